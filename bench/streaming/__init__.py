"""How fast and how soon an ordered log gets into a sink through Spark, and what a killed driver costs."""
