"""JSON encoders of graphs: nodes, drawings, comparisons, Plotly figures, responses of the v1 interface."""
