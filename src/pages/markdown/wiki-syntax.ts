import type MarkdownIt from 'markdown-it';

/** Maximum number of characters in a link. */
const maxLength = 300;

/** `[[Page]]` and `[[text|Page]]` as links to pages of the same wiki, as on other forges. */
export function wikiSyntax(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.inline.ruler.before('link', 'wiki_link', (state, isSilent) => {
    const { src, pos } = state;
    if (src.charCodeAt(pos) !== 0x5b || src.charCodeAt(pos + 1) !== 0x5b) return false;
    const inner = src.slice(pos + 2, pos + 2 + maxLength);
    const end = inner.indexOf(']]');
    if (end <= 0 || /[[\n]/.test(inner.slice(0, end))) return false;
    const [first = '', second] = inner.slice(0, end).split('|', 2);
    const page = (second ?? first).trim();
    if (page === '') return false;
    if (!isSilent) {
      const [title = '', fragment] = page.split('#', 2);
      const address = title.trim().replaceAll(' ', '-').split('/').map(encodeURIComponent).join('/');
      const open = state.push('link_open', 'a', 1);
      open.attrs = [['href', fragment === undefined ? address : `${address}#${encodeURIComponent(fragment)}`]];
      state.push('text', '', 0).content = first.trim();
      state.push('link_close', 'a', -1);
    }
    state.pos = pos + 2 + end + 2;
    return true;
  });
}
