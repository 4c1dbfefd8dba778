"""Views: who suspects whom, who is in, and that those who stay have received the same."""
