import type { TreeEntry } from '../../git/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { PullsDeps } from './deps.ts';

/** Folders that may have a template, in this order; '' is the root. */
const folders = ['.hearth', '.forgejo', '.gitea', '.github', '', 'docs'];
const isTemplate = /^pull[_-]request(?:[_-]template)?\.(?:md|markdown)$/i;

/** A template longer than a description could be is none. */
const maxBytes = 65_536;

/**
 * The text that the description of a new pull request begins with: `.hearth/pull_request.md`, or
 * `pull_request_template.md` below `.hearth`, `.forgejo`, `.gitea` or `.github`, in the root or in `docs`; '' without
 * one. Front matter, which other forges read a title from, is left out.
 * @param oid of the base branch: a pull request does not bring its own template
 */
export async function findPullTemplate({ git }: PullsDeps, path: string, oid: string): Promise<string> {
  const list = async (folder: string): Promise<readonly TreeEntry[]> =>
    (await git.objects.tree(path, oid, folder).catch(nullIfNotFound))?.entries ?? [];
  const root = await list('');
  const has = (name: string): boolean => root.some((entry) => entry.name === name && entry.kind === 'folder');
  for (const folder of folders) {
    if (folder !== '' && !has(folder)) continue;
    const entries = folder === '' ? root : await list(folder);
    const file = entries.find(({ name, kind }) => kind === 'file' && isTemplate.test(name));
    if (file === undefined) continue;
    const { content } = await git.objects.blob(path, file.oid, { maxBytes });
    if (content !== null && !content.includes(0)) return withoutFrontMatter(content.toString());
  }
  return '';
}

function withoutFrontMatter(text: string): string {
  const normal = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const end = normal.startsWith('---\n') ? normal.indexOf('\n---\n', 3) : -1;
  return (end === -1 ? normal : normal.slice(end + '\n---\n'.length)).trim();
}
