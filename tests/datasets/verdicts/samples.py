"""Past verdicts that several tests measure."""

TABLE = """\
pair_id,order,winner,label,judge
p1,uv,1,1,j
p1,vu,2,1,j
p2,uv,1,2,j
p2,vu,1,2,j
p3,uv,tie,1,j
p3,vu,2,1,j
p4,uv,tie,tie,j
p4,vu,tie,tie,j
p5,uv,2,2,j
p5,vu,error,2,j
"""
"""Five pairs in both orders, with a gold label: every outcome is there, an error too."""
