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

/** Of an address that becomes a link, in characters. */
const maxAddress = 2_048;

/** @param breaks whether a line break in the source is one on the page */
function createRenderer(
  breaks: boolean,
  ...plugins: ((markdown: InstanceType<typeof MarkdownIt>) => void)[]
): Pick<InstanceType<typeof MarkdownIt>, 'render'> {
  const markdown = new MarkdownIt({ html: true, linkify: true, breaks });
  // Only what is written as an address becomes a link: `config.rs` is a file, not a host.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  // GFM 6.9: an address without a scheme begins with `www.`.
  markdown.linkify.add('www.', {
    // What follows is a host and a path as behind `http:`; before it is nothing, a space, or one of `*_~(`.
    validate: (text, at, linkify) =>
      /[^\s*_~(]/.test(text.slice(Math.max(0, at - 5), at - 4))
        ? 0
        : Math.max(0, linkify.testSchemaAt(`//${text.slice(at, at + maxAddress)}`, 'http:', 0) - 2),
    normalize: (match) => void (match.url = `http://${match.url}`),
  });
  markdown.use(headingAnchors).use(taskLists).use(alerts).use(footnotes).use(codeBlocks).use(mathSyntax);
  for (const plugin of plugins) markdown.use(plugin);
  // A wide table scrolls in a box of its own.
  markdown.renderer.rules['table_open'] = () => '<div class="scroll"><table>\n';
  markdown.renderer.rules['table_close'] = () => '</table></div>\n';
  markdown.renderer.rules['formula'] = (tokens, index) => tokens[index]!.content;
  return markdown;
}

/** For files, for texts that people type, where a line break is meant as one, and for pages of a wiki. */
const renderers = { file: createRenderer(false), typed: createRenderer(true), wiki: createRenderer(false, wikiSyntax) };

/** Where a text comes from, which decides what a line break in it is, and whether `[[…]]` is a link. */
export type TextKind = keyof typeof renderers;

/**
 * Markdown as HTML that is safe to put into a page: rendered first, cleaned afterwards, so that whatever the renderer
 * or an HTML block produced passes the same allowlist (security C02). What is inserted later is a placeholder.
 */
export function renderParts(source: string, links: DocumentLinks, kind: TextKind = 'file'): RenderedMarkdown {
  const env = {};
  const html = sanitize(renderers[kind].render(source, env), links);
  return { ...partsOf(env), html };
}

/** The same as one text, without highlighting, MathML and references. */
export const renderMarkdown = (source: string, links: DocumentLinks): string =>
  replacePlaceholders(renderParts(source, links), plainFills);
