"""JSON encoders of graphs: nodes, drawings, comparisons, Plotly figures, answers of the v1 interface."""
