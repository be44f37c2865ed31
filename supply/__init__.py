"""What Umpirical is built of: its bill of materials, its licences, and versions to count with."""
