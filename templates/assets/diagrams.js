/*
 * Draws fences called `mermaid`, each in a frame of its own that has no origin (/assets/mermaid): its source goes in, a
 * height comes out. What cannot be drawn, and all of it without this script, stays source.
 */
const t = (key) => words[key];
const isDark = matchMedia('(prefers-color-scheme: dark)');
const theme = () => document.documentElement.dataset.theme;

/** A page of many more is a load for the browser. */
const most = 20;
const longestMs = 10_000;
const tallest = 10_000;

function draw(source) {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.src = '/assets/mermaid';
  frame.title = t('scripts.diagram');
  frame.loading = 'lazy';
  const box = document.createElement('div');
  box.className = 'diagram';
  box.style.position = 'relative';
  source.replaceWith(box);
  box.append(source, frame);
  // The source keeps its place until there is something else to see.
  frame.style.cssText = 'position:absolute;inset:0;visibility:hidden;width:100%';
  const giveUp = () => {
    removeEventListener('message', hear);
    box.replaceWith(source);
  };
  let patience;
  function hear(event) {
    if (event.source !== frame.contentWindow) return;
    const height = event.data?.height;
    if (typeof height !== 'number') return;
    clearTimeout(patience);
    const isDrawn = source.parentElement.localName === 'details';
    if (!(height > 0)) return isDrawn || giveUp();
    frame.style.cssText = `display:block;border:0;width:100%;height:${Math.min(height, tallest)}px`;
    if (isDrawn) return;
    const details = document.createElement('details');
    details.innerHTML = '<summary></summary>';
    details.firstChild.textContent = t('scripts.diagram_source');
    details.append(source);
    box.append(details);
  }
  addEventListener('message', hear);
  frame.addEventListener(
    'load',
    () => {
      patience = setTimeout(giveUp, longestMs);
      const dark = theme() === 'dark' || (theme() !== 'light' && isDark.matches);
      // The frame has no origin that could be named.
      frame.contentWindow.postMessage({ source: source.textContent, isDark: dark }, '*');
    },
    { once: true },
  );
}

for (const code of [...document.querySelectorAll('pre > code.language-mermaid')].slice(0, most))
  draw(code.parentElement);
