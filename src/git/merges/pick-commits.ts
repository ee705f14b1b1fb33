import { internal } from '../../kernel/index.ts';
import { checked, maxCommitBytes, readObject } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { parseCommit } from '../objects/parse-objects.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { commitPayload } from './commit-payload.ts';
import type { SignCommit } from './commit-payload.ts';
import type { MergeOutcome } from './merge-outcome.ts';
import { mergeTrees, temporaryCommit } from './merge-trees.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

/** Limit of commits that one rebase applies. */
const maxPicks = 250;

interface PickRequest {
  onto: string;
  head: string;
  /** Excludes this commit and its ancestors. */
  base?: string | undefined;
  committer: Signature;
  sign?: SignCommit | undefined;
  /** Whether the branch is an ancestor of `head`: then no commit needs to change. */
  isForward: boolean;
}

/**
 * Applies each commit that the branch lacks on top of it, oldest first, as `git rebase` does: it skips merge commits
 * and changes that the branch already has, and keeps the author, message, encoding and change id of each.
 */
export async function pickCommits(
  deps: BrowseDeps,
  path: string,
  workspace: MergeWorkspace,
  { onto, head, base, committer, sign, isForward }: PickRequest,
): Promise<MergeOutcome> {
  const { code, output, errorText } = await workspace.run([
    'rev-list',
    '--reverse',
    '--topo-order',
    '--no-merges',
    '--cherry-pick',
    '--right-only',
    `--max-count=${maxPicks + 1}`,
    `${onto}...${head}`,
    ...(base === undefined ? [] : [`^${checked(base)}`]),
    '--',
  ]);
  if (code !== 0) throw internal('git could not list commits', { cause: { code, errorText } });
  const picks = output
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '');
  if (picks.length > maxPicks) return { kind: 'too_many_commits', limit: maxPicks };

  let tip = onto;
  let tipTree = (await readOriginal(deps, path, onto)).tree;
  let commits = 0;
  for (const oid of picks) {
    const original = await readOriginal(deps, path, oid);
    // A commit that is already on top of the tip stays unchanged, with its signature.
    if (isForward && original.parents.length === 1 && original.parents[0] === tip) {
      [tip, tipTree] = [oid, original.tree];
      continue;
    }
    const merged = await pick(workspace, { original, oid, tip, tipTree });
    if (merged.kind === 'unrelated') return merged;
    if (merged.kind === 'conflict') return { kind: 'conflict', files: merged.files, commit: oid };
    // Its change has become empty and was not so before.
    if (merged.tree === tipTree && original.tree !== original.parentTree) continue;
    const { author, encoding, changeId, message } = original;
    const commit = { tree: merged.tree, parents: [tip], author, committer, encoding, changeId, message };
    tip = await workspace.writeCommit(await commitPayload(commit, sign));
    tipTree = merged.tree;
    commits += 1;
  }
  return tip === onto ? { kind: 'nothing' } : { kind: 'merged', oid: tip, commits };
}

interface Original {
  tree: string;
  parents: string[];
  parentTree: string | null;
  /** As written: the encoding is the commit's own. */
  author: Buffer;
  encoding: string | undefined;
  changeId: string | null;
  message: Buffer;
}

/**
 * The three-way merge of a commit with the tip, with the commit's parent as base. git-merge-tree(1) determines the base
 * itself, so both sides become children of one temporary commit with the parent's tree.
 */
async function pick(
  workspace: MergeWorkspace,
  { original, oid, tip, tipTree }: { original: Original; oid: string; tip: string; tipTree: string },
) {
  const [parent] = original.parents;
  // The usual case: the commit's own parent is the base.
  if (parent !== undefined) {
    const ours = await workspace.writeTemporary(await temporaryCommit(tipTree, [parent], tip));
    return mergeTrees(workspace, ours, oid);
  }
  const { code, output } = await workspace.run(['hash-object', '-t', 'tree', '-w', '/dev/null']);
  if (code !== 0) throw internal('git could not write an object');
  const base = await workspace.writeTemporary(await temporaryCommit(output.toString('latin1').trim(), [], 'base'));
  const ours = await workspace.writeTemporary(await temporaryCommit(tipTree, [base], tip));
  const theirs = await workspace.writeTemporary(await temporaryCommit(original.tree, [base], oid));
  return mergeTrees(workspace, ours, theirs);
}

async function readOriginal({ readers }: BrowseDeps, path: string, oid: string): Promise<Original> {
  const [{ content }, [parentTree]] = await readers.use(path, (reader) =>
    Promise.all([readObject(reader, oid, 'commit', maxCommitBytes), reader.infos([`${oid}^^{tree}`])]),
  );
  const blank = content.indexOf('\n\n');
  const end = blank === -1 ? content.length : blank;
  const { tree, parents, changeId } = parseCommit(oid, content);
  return {
    tree,
    parents,
    parentTree: parentTree?.oid ?? null,
    author: headerOf(content, end, 'author') ?? Buffer.from('unknown <> 0 +0000'),
    encoding: headerOf(content, end, 'encoding')?.toString('latin1'),
    changeId,
    message: content.subarray(Math.min(end + 2, content.length)),
  };
}

/** The value of a commit header, byte for byte. */
function headerOf(content: Buffer, end: number, name: string): Buffer | null {
  const at = content.indexOf(`\n${name} `);
  if (at === -1 || at >= end) return null;
  const from = at + name.length + 2;
  const newline = content.indexOf('\n', from);
  return content.subarray(from, newline === -1 ? end : Math.min(newline, end));
}
