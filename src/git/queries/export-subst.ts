import { checked } from '../objects/browse.ts';
import { isBranchOrTag } from '../../kernel/index.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { grepReader } from './grep.ts';
import type { GrepLine } from './grep.ts';
import { openArchiveFolder } from './archive-folder.ts';
import { pageLimitMs } from './query-git.ts';
import { readGitToEnd } from './read-git.ts';

/**
 * A temporary folder beside the objects of a repository that lets `git archive` expand `export-subst`
 * (gitattributes(5)) only in files whose placeholders are facts of the commit.
 */
interface Substitution {
  /** Null if nothing is expanded. */
  gitDir: string | null;
  /** Whether the result depends only on the commit; a result that names refs changes when they move. */
  isLasting: boolean;
  dispose(): Promise<void>;
}

const limits = { outputBytes: 1024 * 1024, files: 200, placeholders: 256, refs: 50_000 };
/** Time limits in milliseconds for reading attributes of all files, and for reading their content. */
const timeLimits = { attributes: pageLimitMs, formats: 30_000 };

/**
 * Facts of a commit. Other placeholders run a verifier (`%G?`), show notes (`%N`), pad to any width (`%w`, `%<`) or
 * depend on the current time (`%ar`).
 */
const fact = /%(?:%|n|[HhTtPpsDd]|a[neIidst]|c[neIidst]|\(describe(?::[^()]*)?\))/g;
const describeOption = /^(?:tags(?:=(?:true|false))?|abbrev=\d{1,2}|(?:match|exclude)=[\w./-]*\*?[\w./-]*)$/;
const namesRefs = /%(?:[Dd]|\(describe)/;

const unchanged = { gitDir: null, dispose: async () => {} };

/** Expands nothing if no file requests it, or if the search exceeds a limit. */
export async function openSubstitution(
  deps: BrowseDeps,
  repository: string,
  oid: string,
  readRefs: () => Promise<Iterable<readonly [ref: string, oid: string]> & { size: number }>,
): Promise<Substitution> {
  const find = (text: string, paths: readonly string[], timeLimitMs: number) =>
    findLines(deps, repository, oid, { text, paths, timeLimitMs });
  const asking = await find('export-subst', [':(glob)**/.gitattributes'], timeLimits.attributes);
  // Nearly every repository ends here. A search that timed out may be faster the next time.
  if (asking === 'late' || asking.length === 0) return { ...unchanged, isLasting: asking !== 'late' };
  const lines = await find('$Format:', [], timeLimits.formats);
  if (lines === 'late' || lines.length === 0) return { ...unchanged, isLasting: lines !== 'late' };
  const { denied, expanded } = judge(lines);
  if (expanded.length === 0 || denied.length > limits.files) return { ...unchanged, isLasting: true };

  const isLasting = !expanded.some((format) => namesRefs.test(format));
  const refs = isLasting ? new Map<string, string>() : await readRefs();
  if (refs.size > limits.refs) return { ...unchanged, isLasting: true };
  // These attributes outrank those in the repository.
  const attributes = Buffer.concat(denied.map(withoutSubstitution));
  return { ...(await openArchiveFolder(repository, { refs: packedRefs(refs), attributes })), isLasting };
}

/** Lines of a commit's files, including binary ones, that contain a text; none if there are too many. */
async function findLines(
  deps: BrowseDeps,
  repository: string,
  oid: string,
  { text, paths, timeLimitMs }: { text: string; paths: readonly string[]; timeLimitMs: number },
): Promise<GrepLine[] | 'late'> {
  const lines: GrepLine[] = [];
  const read = grepReader(checked(oid).length + 1, (line) => lines.push(line) > 0, limits.outputBytes);
  const argv = ['grep', '--no-color', '-a', '-z', '-n', '--full-name', '-F', '-e', text, oid, '--', ...paths];
  let bytes = 0;
  const take = (chunk: Buffer): boolean => {
    bytes += chunk.length;
    return read(chunk) && bytes <= limits.outputBytes;
  };
  const { isWhole, code } = await readGitToEnd(deps, repository, argv, take, {
    timeLimitMs,
    yields: true,
    environment: { GIT_LITERAL_PATHSPECS: '0' },
  });
  if (bytes > limits.outputBytes) return [];
  return isWhole && (code === 0 || code === 1) ? lines : 'late';
}

/** Splits files by whether all their placeholders are facts of the commit. */
function judge(lines: readonly GrepLine[]): { denied: Buffer[]; expanded: string[] } {
  const files = new Map<string, { file: Buffer; formats: string[]; isDenied: boolean }>();
  let placeholders = 0;
  for (const { file, text: bytes } of lines) {
    const text = bytes.toString('latin1');
    const key = file.toString('latin1');
    const found = files.get(key) ?? { file, formats: [], isDenied: false };
    files.set(key, found);
    for (let at = text.indexOf('$Format:'); at !== -1; at = text.indexOf('$Format:', at + 1)) {
      const end = text.indexOf('$', at + 1);
      // git continues on the following lines.
      const format = end === -1 ? null : text.slice(at + '$Format:'.length, end);
      placeholders += format?.split('%').length ?? 0;
      if (format === null || placeholders > limits.placeholders || !isFactual(format)) found.isDenied = true;
      else found.formats.push(format);
    }
  }
  const all = [...files.values()];
  return {
    denied: all.filter(({ isDenied }) => isDenied).map(({ file }) => file),
    expanded: all.filter(({ isDenied }) => !isDenied).flatMap(({ formats }) => formats),
  };
}

function isFactual(format: string): boolean {
  let isAllowed = true;
  const rest = format.replace(fact, (placeholder) => {
    const options = /^%\(describe:(.*)\)$/s.exec(placeholder)?.[1];
    if (options?.split(',').some((option) => !describeOption.test(option))) isAllowed = false;
    return '';
  });
  return isAllowed && !rest.includes('%');
}

/** Branches and tags only, without hidden refs and those of pull requests. */
function packedRefs(refs: Iterable<readonly [ref: string, oid: string]>): string {
  return [...refs]
    .filter(([name]) => isBranchOrTag(name))
    .map(([name, id]) => `${id} ${name}\n`)
    .join('');
}

/** A line of gitattributes(5): the path as a quoted C string with escaped pattern characters. */
function withoutSubstitution(file: Buffer): Buffer {
  const pattern = file.toString('latin1').replace(/[\\*?[]/g, '\\$&');
  const quoted = pattern.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r');
  return Buffer.from(`"/${quoted}" -export-subst\n`, 'latin1');
}
