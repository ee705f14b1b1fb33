import type { PullDeps } from '../deps.ts';
import { readTemplate } from './read-template.ts';

/** Folders that may contain a template, in order of precedence; '' is the root. */
const folders = ['.hearth', '.forgejo', '.gitea', '.github', '', 'docs'];
const isTemplate = /^pull[_-]request(?:[_-]template)?\.(?:md|markdown)$/i;

/**
 * Initial description of a new pull request: `.hearth/pull_request.md`, or `pull_request_template.md` below `.hearth`,
 * `.forgejo`, `.gitea` or `.github`, in the root or in `docs`; '' without one. Omits front matter, from which other
 * forges read a title.
 * @param oid commit of the base branch: a pull request cannot bring its own template
 */
export async function findPullTemplate(deps: Pick<PullDeps, 'git'>, path: string, oid: string): Promise<string> {
  const found = await readTemplate(deps, path, oid, { folders, isTemplate });
  return found === null ? '' : withoutFrontMatter(found);
}

function withoutFrontMatter(text: string): string {
  const normal = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const end = normal.startsWith('---\n') ? normal.indexOf('\n---\n', 3) : -1;
  return (end === -1 ? normal : normal.slice(end + '\n---\n'.length)).trim();
}
