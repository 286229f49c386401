// Page of confusion matrices. It imports nothing: what it needs of MindInsight comes with `app`.

export const alone = true;

/** Mount the page: the newest matrix of each tag of the shown runs. */
export async function mount(root, app) {
  const { h, replace } = app.dom;
  const draw = async () => {
    const panels = await Promise.all(app.selection.runs().map((run) => panelsOf(app, run)));
    const all = panels.flat();
    const title = h("h1", null, app.t("nav.confusion"));
    root.classList.add("stack");
    replace(root, title, ...(all.length ? all : [h("p", { class: "muted" }, app.t("confusion.none"))]));
  };
  await draw();
  const off = app.selection.on(draw);
  return { update: draw, unmount: off };
}

/** Return a panel for each tag of a run. */
async function panelsOf(app, run) {
  if (!run.kinds.tensor) return [];
  const { tags } = await app.api.get("v2/confusion/tags", { run: run.id });
  return Promise.all(
    tags.map(async ({ tag, steps }) => {
      const row = steps.length - 1;
      return panel(app, run, tag, await app.api.get("v2/confusion/matrix", { run: run.id, tag, row }));
    }),
  );
}

/** Return the panel of one matrix. */
function panel(app, run, tag, { step, matrix, accuracy, recall }) {
  const { h } = app.dom;
  const { t, format } = app;
  const most = Math.max(1, ...matrix.flat());
  const shade = (count) => ({
    background: `color-mix(in srgb, var(--accent) ${(60 * count) / most}%, transparent)`,
  });
  const share = (value) => (value === null ? "–" : format.number(value, 3));
  return h(
    "section",
    { class: "panel", "aria-label": `${run.name} ${tag}` },
    h("h2", { class: "panel-title" }, `${run.name} · ${tag}`),
    h("p", null, t("confusion.step", { step, accuracy: share(accuracy) })),
    h(
      "table",
      { class: "table" },
      h(
        "thead",
        null,
        h("tr", null, [t("confusion.true"), ...matrix.keys(), t("confusion.recall")].map((name) => h("th", null, name))),
      ),
      h(
        "tbody",
        null,
        matrix.map((counts, i) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, i),
            counts.map((count) => h("td", { class: "number", style: shade(count) }, count)),
            h("td", { class: "number" }, share(recall[i])),
          ),
        ),
      ),
    ),
  );
}
