/** What the renderers write of a fence called `mermaid`; text of people has no tags. */
const fence = '<code class="language-mermaid"';

/** Whether a page has a diagram: it gets the script that draws it, and a policy that allows its frame. */
export const hasDiagrams = (html: string | Buffer): boolean => html.includes(fence);
