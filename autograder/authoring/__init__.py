"""Making the course: from source text to notebooks, and the lint that keeps them right."""
