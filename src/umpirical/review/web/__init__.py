"""The review in the browser: pages rendered by the server over a desk, which decides what is allowed and recorded."""
