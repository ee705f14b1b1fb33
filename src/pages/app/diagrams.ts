/** The markup that the renderers write for a `mermaid` fence; user text cannot contain tags. */
const fence = '<code class="language-mermaid"';

/** Whether a page has a diagram: it then gets the script that draws it, and a policy that allows its frame. */
export const hasDiagrams = (html: string | Buffer): boolean => html.includes(fence);
