/*
 * Draws the diagram that the page around this frame sends: its source comes in, a height goes out, 0 when there is
 * nothing to show. The frame has no origin, no cookies, and a policy that lets it load nothing else.
 */
const drawing = document.getElementById('drawing');
/** Characters; of more Mermaid draws a sentence. */
const longest = 50_000;
const tell = (height) => parent.postMessage({ height: Math.ceil(height) }, '*');

addEventListener(
  'message',
  async ({ source, data }) => {
    if (source !== parent || parent === window || typeof data?.source !== 'string') return;
    if (data.source.length > longest) return tell(0);
    document.documentElement.style.colorScheme = data.isDark ? 'dark' : 'light';
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      suppressErrorRendering: true,
      theme: data.isDark ? 'dark' : 'default',
      fontFamily: 'system-ui, sans-serif',
      maxTextSize: longest,
      maxEdges: 500,
    });
    try {
      const { svg } = await mermaid.render('diagram', data.source);
      drawing.innerHTML = svg;
    } catch {
      return tell(0);
    }
    new ResizeObserver(() => tell(drawing.getBoundingClientRect().height)).observe(drawing);
  },
  { once: true },
);
