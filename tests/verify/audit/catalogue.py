"""All plants."""

from __future__ import annotations

from tests.verify.audit import plants_of_finality, plants_of_levels, plants_of_losses, plants_of_order, plants_of_views
from tests.verify.audit.planting import Plant

PLANTS: tuple[Plant, ...] = (
    plants_of_order.swap_at_one_site,
    plants_of_order.swap_of_one_sender,
    plants_of_order.left_out_in_the_order,
    plants_of_order.delivered_twice,
    plants_of_order.delivered_twice_without_position,
    plants_of_order.swapped_without_position,
    plants_of_order.invented,
    plants_of_order.never_multicast,
    plants_of_losses.record_lost,
    plants_of_losses.position_left_out,
    plants_of_losses.never_delivered,
    plants_of_order.before_its_cause,
    plants_of_order.answered_in_advance,
    plants_of_levels.ordered_before_its_cause,
    plants_of_levels.ordered_before_what_it_follows,
    plants_of_finality.retracted_below_final,
    plants_of_finality.final_goes_back,
    plants_of_finality.other_in_the_next_life,
    plants_of_finality.called_final_too_early,
    plants_of_finality.safe_before_final,
    plants_of_finality.safe_held_by_too_few,
    plants_of_views.left_out_by_one_member,
    plants_of_views.delivered_in_the_next_view,
    plants_of_views.named_another_view,
    plants_of_views.two_views_of_one_number,
    plants_of_views.view_without_quorum,
)
