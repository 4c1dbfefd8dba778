"""What traces say of latencies, rates and delays; and what the planner makes of it.

Records of what is sent and received there are none, so losses cannot be told; what never comes up can.
"""
