"""The centre: plans and sends slots, takes runs in, keeps statistics, shows them."""
