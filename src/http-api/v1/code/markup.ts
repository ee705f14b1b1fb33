import { z } from 'zod';
import type { TextToShow } from '../../../web/index.ts';
import { invalid, notFound, nullIfNotFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { json } from '../../responses.ts';
import type { ApiResponse } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { resolveRef } from './trees-and-archives.ts';

/** Limit of the text in bytes: the renderer's limit for files. */
const maxBytes = 128 * 1024;
/** JSON may escape one character as six bytes. */
const maxJsonBytes = 6 * maxBytes;

const common = {
  method: 'POST',
  tag: 'Miscellaneous',
  access: 'anyone',
  cost: 'objects',
  status: 200,
  response: 'bytes',
} as const;

// Gitea capitalises the keys and reads them in any case; GitHub uses lower case.
const text = z.string().optional();
const markdownFields = {
  text: text.describe('Markdown'),
  mode: text.describe('markdown, gfm (default), comment, wiki or file'),
  context: text.describe('OWNER/NAME of a repository, or a URL in it, used to resolve relative links'),
  Text: text,
  Mode: text,
  Context: text,
  wiki: z.boolean().optional(),
  Wiki: z.boolean().optional(),
};
const markdownInput = z.object(markdownFields).meta({ id: 'MarkdownOption' });
const markupInput = z
  .object({
    ...markdownFields,
    file_path: text.describe('In mode file, its extension determines the format'),
    FilePath: text,
    filePath: text,
  })
  .meta({ id: 'MarkupOption' });

type Input = z.output<typeof markupInput>;

/** The ref and folder in a URL of a repository: `/OWNER/NAME/src/branch/main/docs`, with or without the origin. */
interface Place {
  found: Found | null;
  ref: string | null;
  folder: string;
}

/** A repository that the caller may not read counts as absent. */
async function placeOf({ viewer, deps, origin }: AnyCall, context: string): Promise<Place> {
  const path = context.startsWith(`${origin}/`) ? context.slice(origin.length) : context;
  const [owner = '', name = '', word, kind, ...rest] = path.split('/').filter(Boolean);
  const found =
    name === '' ? null : await deps.repositories.find(viewer, owner, name.replace(/\.git$/, '')).catch(nullIfNotFound);
  const isInTree = word === 'src' && ['branch', 'tag', 'commit'].includes(kind ?? '');
  if (found === null || !isInTree) return { found, ref: null, folder: '' };
  const named = kind === 'commit' ? rest : ['refs', kind === 'tag' ? 'tags' : 'heads', ...rest];
  const at = await deps.git.queries.resolveRefPath(found.path, Buffer.from(named.join('/'))).catch(nullIfNotFound);
  return { found, ref: at?.ref ?? null, folder: at?.file.toString() ?? '' };
}

/** Throws `unknown_mode` for modes and file extensions without markup. */
function kindOf(mode: string, isWiki: boolean, file: string): TextToShow['kind'] {
  if (isWiki || mode === 'wiki') return 'wiki';
  if (mode === 'comment') return 'typed';
  if (mode === '' || mode === 'markdown' || mode === 'gfm') return 'file';
  if (mode !== 'file')
    throw invalid('unknown_mode', 'The mode is markdown, gfm, comment, wiki or file.', { field: 'mode' });
  if (/\.(?:adoc|asciidoc)$/i.test(file)) return 'asciidoc';
  if (file === '' || /\.(?:md|markdown|mkd|mdown)$/i.test(file)) return 'file';
  throw invalid('unknown_mode', 'Files with this extension have no markup.', { field: 'file_path' });
}

async function render(call: AnyCall, input: Input): Promise<ApiResponse<never>> {
  const source = input.text ?? input.Text ?? '';
  if (Buffer.byteLength(source) > maxBytes)
    throw invalid('text_too_long', `A text has at most ${maxBytes / 1024} KiB.`, { field: 'text' });
  const file = input.file_path ?? input.FilePath ?? input.filePath ?? '';
  const kind = kindOf((input.mode ?? input.Mode ?? '').toLowerCase(), input.wiki ?? input.Wiki ?? false, file);
  const place = await placeOf(call, input.context ?? input.Context ?? '');
  const { viewer, origin, deps } = call;
  const html = await deps.renderings.markup({ viewer, origin, source, kind, ...place });
  return { kind: 'bytes', type: 'text/html; charset=utf-8', body: Buffer.from(html), headers: {} };
}

export const markupOperations: readonly Operation[] = [
  operation({
    ...common,
    id: 'renderMarkdown',
    path: '/markdown',
    summary: 'Render Markdown text as sanitized HTML',
    maxJsonBytes,
    body: markdownInput,
    run: (call) => render(call as unknown as AnyCall, call.body),
  }),
  operation({
    ...common,
    id: 'renderMarkdownRaw',
    path: '/markdown/raw',
    summary: 'Render a Markdown request body as sanitized HTML',
    maxJsonBytes: maxBytes,
    body: 'text',
    run: (call) => render(call as unknown as AnyCall, { text: call.body }),
  }),
  operation({
    ...common,
    id: 'renderMarkup',
    path: '/markup',
    summary: 'Render Markdown or AsciiDoc text as sanitized HTML',
    maxJsonBytes,
    body: markupInput,
    run: (call) => render(call as unknown as AnyCall, call.body),
  }),
  operation({
    id: 'getEditorConfig',
    method: 'GET',
    path: '/repos/{owner}/{name}/editorconfig/{filepath}',
    tag: 'Contents',
    summary: 'Get a file’s .editorconfig settings',
    access: 'repository:read',
    cost: 'objects',
    status: 200,
    query: z.object({
      ref: z.string().optional().describe('Branch, tag or commit ID; defaults to the default branch'),
    }),
    response: z
      .strictObject({
        charset: text,
        indent_style: text,
        indent_size: text.describe('A number'),
        tab_width: z.int().optional(),
        end_of_line: text,
        trim_trailing_whitespace: z.boolean().optional(),
        insert_final_newline: z.boolean().optional(),
      })
      .meta({ id: 'EditorConfig' }),
    async run({ found, params, query, deps }) {
      const commit = await resolveRef(deps, found, query.ref || undefined);
      const settings = await deps.renderings.editorSettings({ repository: found.path, commit }, params.filepath);
      if (settings === null) throw notFound('no_editor_config', 'No .editorconfig is about this file.');
      const { indentSize, tabWidth } = settings;
      return json({
        charset: settings.charset,
        indent_style: settings.indentStyle,
        indent_size: indentSize === undefined ? undefined : String(indentSize),
        tab_width: tabWidth ?? indentSize,
        end_of_line: settings.endOfLine,
        trim_trailing_whitespace: settings.trimTrailingWhitespace,
        insert_final_newline: settings.insertFinalNewline,
      });
    },
  }),
];
