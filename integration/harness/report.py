# SPDX-License-Identifier: BSD-3-Clause
"""report.html of the demo: the states of each reload, and which generation answered which flow, drawn as inline SVG. One file, no script."""
import html

WIDTH, LEFT, RIGHT = 1180, 130, 14
STATES = ["T1_GNEW_SPAWN", "T2_HANDOVER", "T3_DRAIN", "T4_DRAIN_DONE", "T5_GOLD_QUIT", "end"]
STATE_TEXT = {"T1_GNEW_SPAWN": "T1 new workers start", "T2_HANDOVER": "T2 handover", "T3_DRAIN": "T3 old flows drain",
              "T4_DRAIN_DONE": "T4 drained", "T5_GOLD_QUIT": "T5 old workers leave"}
COLOURS = 4

STYLE = """
:root { --paper:#ffffff; --ink:#1c2126; --soft:#6a737d; --line:#d9dee3; --lost:#d1242f;
  --g0:#2563c9; --g1:#d9730d; --g2:#16885a; --g3:#8e44ad;
  --T1_GNEW_SPAWN:#cfe0f7; --T2_HANDOVER:#e5484d; --T3_DRAIN:#f7dfb8; --T4_DRAIN_DONE:#9b8afb; --T5_GOLD_QUIT:#46a758; }
@media (prefers-color-scheme: dark) { :root { --paper:#14181c; --ink:#e6e9ec; --soft:#98a1aa; --line:#333b43; --lost:#ff6b6b;
  --g0:#6ea8fe; --g1:#ffa94d; --g2:#51cf9a; --g3:#c792ea;
  --T1_GNEW_SPAWN:#24405f; --T3_DRAIN:#5c4520; } }
body { margin:24px auto; max-width:1180px; padding:0 16px; background:var(--paper); color:var(--ink); font:15px/1.5 system-ui,sans-serif; }
h1 { font-size:22px; margin:0 0 4px } h2 { font-size:16px; margin:28px 0 6px } p { margin:4px 0 10px; color:var(--soft) }
svg { width:100%; height:auto; display:block } text { fill:var(--ink); font:12px system-ui,sans-serif } text.soft { fill:var(--soft) }
table { border-collapse:collapse; margin:8px 0 } th,td { padding:4px 14px 4px 0; text-align:right; border-bottom:1px solid var(--line);
  font-variant-numeric:tabular-nums } th { font-weight:600 } td:first-child,th:first-child { text-align:left }
.bad { color:var(--lost); font-weight:700 } .key span { display:inline-block; width:12px; height:12px; border-radius:2px; margin:0 5px 0 14px }
.grid { display:grid; grid-template-columns:repeat(auto-fit,minmax(340px,1fr)); gap:14px } code { font-size:13px; overflow-wrap:anywhere }
"""


def colour(gen):
    return "var(--g%d)" % (gen % COLOURS)


class Scale:
    def __init__(self, t0, t1, left=LEFT, right=WIDTH - RIGHT):
        self.t0, self.t1, self.left, self.right = t0, t1, left, right

    def __call__(self, t):
        return self.left + (t - self.t0) * (self.right - self.left) / (self.t1 - self.t0)


def axis(x, top, bottom, step, unit=1.0, fmt="%g s"):
    out, n = [], 0
    while x.t0 + n * step <= x.t1:
        at = x(x.t0 + n * step)
        out.append('<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="var(--line)"/><text class="soft" x="%.1f" y="%d" '
                   'text-anchor="middle">%s</text>' % (at, at, top, bottom, at, top - 5, fmt % (n * step * unit)))
        n += 1
    return "".join(out)


def states(x, rounds, top, height):
    """Bands of the master's states; a state of a millisecond can still be seen."""
    out = []
    for r in rounds:
        for a, b in sorted(zip(STATES, STATES[1:]), key=lambda ab: r.seen[ab[0]] - r.seen[ab[1]]): # short ones on top
            begin, end = x(r.seen[a]), x(r.seen[b])
            least = 1.5 if a == "T4_DRAIN_DONE" else 4
            out.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="var(--%s)"><title>generation %d: %s, %.1f ms</title></rect>' %
                       (begin, top, max(end - begin, least), height, a, r.generation, STATE_TEXT[a],
                        1000 * (r.seen[b] - r.seen[a])))
            if end - begin > 40:
                out.append('<text x="%.1f" y="%d">%s</text>' % (begin + 5, top + 15, a.split("_")[0]))
    return "".join(out)


def ordered(flows):
    return sorted((f for f in flows if f.answers or f.asked), key=lambda f: (":" in f.addr, f.born, f.index))


def flow_lines(x, flows, top, pitch):
    """One thin line a flow, in the colour of who answered; a gap where nobody was asked, a dot where nobody answered."""
    paths, lost = {}, []
    for i, f in enumerate(flows):
        y = top + i * pitch
        begin = last = gen = None
        for _, _, got, g, _ in f.answers:
            if gen is not None and (g != gen or got - last > 0.6):
                paths.setdefault(gen, []).append("M%.1f %.1fH%.1f" % (x(begin), y, max(x(last), x(begin) + 0.7)))
                begin = None
            if begin is None or g != gen:
                begin = got if gen is None or got - last > 0.6 else last
            last, gen = got, g
        if gen is not None:
            paths.setdefault(gen, []).append("M%.1f %.1fH%.1f" % (x(begin), y, max(x(last), x(begin) + 0.7)))
        lost += ['<circle cx="%.1f" cy="%.1f" r="3" fill="var(--lost)"><title>lost</title></circle>' % (x(t), y)
                 for t in f.asked.values()]
    return "".join('<path d="%s" stroke="%s" stroke-width="%.1f" fill="none"><title>answered by generation %d</title></path>' %
                   ("".join(d), colour(g), pitch * 0.8, g) for g, d in sorted(paths.items())) + "".join(lost)


def rates(x, flows, top, height, step=0.05):
    """Answers a second by generation, stacked."""
    n = int((x.t1 - x.t0) / step) + 1
    count = {}
    for f in flows:
        for _, _, got, g, _ in f.answers:
            if x.t0 <= got < x.t1:
                count.setdefault(g, [0] * n)[int((got - x.t0) / step)] += 1
    most = max((sum(c[i] for c in count.values()) for i in range(n)), default=1) or 1
    base, out = [0] * n, []
    for g in sorted(count):
        above = [b + c for b, c in zip(base, count[g])]
        pts = [(i, v) for i, v in enumerate(above)] + [(i, base[i]) for i in range(n - 1, -1, -1)]
        out.append('<path d="M%s Z" fill="%s" opacity="0.85"><title>answers by generation %d</title></path>' % (" L".join(
            "%.1f %.1f" % (x(x.t0 + i * step), top + height - v * height / most) for i, v in pts), colour(g), g))
        base = above
    out.append('<text class="soft" x="%d" y="%d" text-anchor="end">%d answers/s</text>' % (LEFT - 8, top + 10, most / step))
    return "".join(out)


def overview(t0, t1, rounds, flows):
    flows = ordered(flows)
    pitch = 2.4 if len(flows) < 260 else 1.4
    x = Scale(t0, t1)
    y_state, y_rate, y_flow = 30, 66, 150
    bottom = int(y_flow + len(flows) * pitch + 8)
    v4 = sum(":" not in f.addr for f in flows)
    label = '<text x="%d" y="%.1f" text-anchor="end">%s</text>'
    body = [axis(x, 20, bottom, 1 if t1 - t0 < 25 else 5), states(x, rounds, y_state, 22), rates(x, flows, y_rate, 64),
            flow_lines(x, flows, y_flow, pitch), label % (LEFT - 8, y_state + 16, "master"),
            label % (LEFT - 8, y_flow + v4 * pitch / 2, "%d IPv4 flows" % v4),
            label % (LEFT - 8, y_flow + (v4 + len(flows)) * pitch / 2, "%d IPv6 flows" % (len(flows) - v4))]
    return '<svg viewBox="0 0 %d %d" role="img" aria-label="timeline">%s</svg>' % (WIDTH, bottom, "".join(body))


def close_up(r, flows):
    """The handover, each answer a dot: sent at the left end of its line, back at the right one."""
    flows = ordered(flows)
    t0, t1 = r.seen["T2_HANDOVER"] - 0.06, r.seen["T3_DRAIN"] + 0.09
    x = Scale(t0, t1, 6, 554)
    height = 260
    out = [axis(x, 20, height, 0.03, 1000, "%.0f ms")]
    begin, end = x(r.seen["T2_HANDOVER"]), x(r.seen["T3_DRAIN"])
    out.append('<rect x="%.1f" y="20" width="%.1f" height="%d" fill="var(--T2_HANDOVER)" opacity="0.25"/>' %
               (begin, max(end - begin, 1.5), height - 20))
    for i, f in enumerate(flows):
        y = 24 + i * (height - 28) / max(len(flows), 1)
        for _, sent, got, g, _ in f.answers:
            if t0 <= sent and got <= t1:
                out.append('<path d="M%.1f %.1fH%.1f" stroke="%s" stroke-width="0.8"/><circle cx="%.1f" cy="%.1f" r="1.6" fill="%s"/>' %
                           (x(sent), y, x(got), colour(g), x(got), y, colour(g)))
    return '<figure style="margin:0"><svg viewBox="0 0 560 %d">%s</svg><figcaption>to generation %d</figcaption></figure>' % (
        height, "".join(out), r.generation)


def table(rows, head):
    return "<table><tr>%s</tr>%s</table>" % ("".join("<th>%s</th>" % h for h in head), "".join(
        "<tr>%s</tr>" % "".join("<td>%s</td>" % c for c in row) for row in rows))


def write(path, load, rounds, reports, bad):
    """rounds: what the log told; reports: `last` of nonic ctl status --json for each; bad: sentences of harness/reload.wrong."""
    t0 = min(f.born for f in load.flows)
    t1 = max(f.answers[-1][2] for f in load.flows if f.answers) + 0.1
    lost = len(load.lost())
    number = lambda n: "<span%s>%s</span>" % (' class="bad"' if n else "", format(n, ","))
    gens = sorted({a[3] for f in load.flows for a in f.answers})
    key = "".join('<span style="background:%s"></span>generation %d' % (colour(g), g) for g in gens)
    key += "".join('<span style="background:var(--%s)"></span>%s' % (s, STATE_TEXT[s]) for s in STATES[:-1])
    rows = [("generation %d" % r.generation, "%d ms" % p["total_ms"], "%d ms" % p["handover_ms"], "%.0f µs" % (p["gap_ns"] / 1000),
             "%d ms" % p["drain_ms"], format(p["forwarded"], ","), format(p["relayed"], ","), number(p["dropped"]))
            for r, p in zip(rounds, reports)]
    text = ["<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
            "<title>nonic: %d reloads under %d UDP flows</title><style>%s</style>" % (len(rounds), len(load.flows), STYLE),
            "<h1>%d reloads under UDP load</h1>" % len(rounds),
            "<p>The Linux kernel sends, nonic echoes; every answer says which generation of workers it is from.</p>",
            table([(format(len(load.flows), ","), format(load.sent(), ","), format(load.received(), ","), number(lost),
                    number(len(bad)))], ("flows", "datagrams sent", "answered", "lost", "answered by the wrong generation")),
            table(rows, ("reload to", "total", "handover", "nobody polled", "drain", "forwarded", "relayed", "dropped")),
            "<h2>Who answered what</h2><p class=key>%s</p>" % key, overview(t0, t1, rounds, load.flows),
            "<p>Each line is a flow. Flows that the old generation was serving stay with it until it leaves; flows that begin after the "
            "handover belong to the new one at once. Lost datagrams would be red dots.</p>",
            "<h2>The handovers, close up</h2><p>A dot is an answer, the line behind it the time it took; between the edges of the band "
            "the queue changes hands.</p><div class=grid>%s</div>" % "".join(close_up(r, load.flows) for r in rounds),
            "<h2>What the master said</h2>", "".join("<p><code>%s</code></p>" % html.escape(p["text"]) for p in reports)]
    if bad:
        text.append("<h2 class=bad>Wrong</h2>" + "".join("<p>%s</p>" % html.escape(b) for b in bad[:50]))
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(text))
