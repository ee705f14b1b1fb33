import MarkdownIt from 'markdown-it';
import { alerts } from './alerts.ts';
import { codeBlocks } from './code-blocks.ts';
import { partsOf } from './markdown-env.ts';
import type { DocumentLinks } from './document-links.ts';
import { footnotes } from './footnotes.ts';
import { mathSyntax } from './math-syntax.ts';
import { headingAnchors } from './heading-anchors.ts';
import { replacePlaceholders, plainFills } from './rendered-markdown.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';
import { sanitize } from './sanitize.ts';
import { taskLists } from './task-lists.ts';
import { wikiSyntax } from './wiki-syntax.ts';

/** Maximum length of a URL that becomes a link, in characters. */
const maxAddress = 2_048;

/**
 * @param breaks whether a line break in the source is kept on the page
 */
function createRenderer(
  breaks: boolean,
  ...plugins: ((markdown: InstanceType<typeof MarkdownIt>) => void)[]
): Pick<InstanceType<typeof MarkdownIt>, 'render'> {
  const markdown = new MarkdownIt({ html: true, linkify: true, breaks });
  // Only explicit URLs become links: `config.rs` is a file, not a host.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  // GFM 6.9: a URL without a scheme begins with `www.`.
  markdown.linkify.add('www.', {
    // A host and a path follow as after `http:`; nothing, a space, or one of `*_~(` precedes it.
    validate: (text, at, linkify) =>
      /[^\s*_~(]/.test(text.slice(Math.max(0, at - 5), at - 4))
        ? 0
        : Math.max(0, linkify.testSchemaAt(`//${text.slice(at, at + maxAddress)}`, 'http:', 0) - 2),
    normalize: (match) => void (match.url = `http://${match.url}`),
  });
  markdown.use(headingAnchors).use(taskLists).use(alerts).use(footnotes).use(codeBlocks).use(mathSyntax);
  for (const plugin of plugins) markdown.use(plugin);
  // A wide table scrolls in its own box.
  markdown.renderer.rules['table_open'] = () => '<div class="scroll"><table>\n';
  markdown.renderer.rules['table_close'] = () => '</table></div>\n';
  markdown.renderer.rules['formula'] = (tokens, index) => tokens[index]!.content;
  return markdown;
}

/** For files, for texts that users type, where line breaks are kept, and for wiki pages. */
const renderers = { file: createRenderer(false), typed: createRenderer(true), wiki: createRenderer(false, wikiSyntax) };

/** The origin of a text, which decides whether line breaks are kept, and whether `[[…]]` is a link. */
export type TextKind = keyof typeof renderers;

/**
 * Markdown as HTML that is safe to put into a page: rendered first, sanitised afterwards, so that all output of the
 * renderer and of HTML blocks passes the same allowlist (security C02). Placeholders mark content that is inserted
 * later.
 */
export function renderParts(source: string, links: DocumentLinks, kind: TextKind = 'file'): RenderedMarkdown {
  const env = {};
  const html = sanitize(renderers[kind].render(source, env), links);
  return { ...partsOf(env), html };
}

/** The same as one text, without highlighting, MathML and references. */
export const renderMarkdown = (source: string, links: DocumentLinks): string =>
  replacePlaceholders(renderParts(source, links), plainFills);
