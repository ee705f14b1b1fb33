import { isAbsolute } from '../../access/index.ts';
import type { MergeBlock } from '../../access/index.ts';
import { explainBlock } from '../../pulls/index.ts';
import type { DescribedPull, MergeBox } from '../../pulls/index.ts';
import type { CloneBoxView } from '../../http/index.ts';
import { t, translated, translateTerm } from '../../translation/index.ts';
import { viewConflicts } from './conflicts.view.ts';
import type { ConflictsView, ReadConflicts } from './conflicts.view.ts';
import { viewCommitState } from '../app/commit-state.view.ts';
import type { StatusView } from '../app/commit-state.view.ts';
import { viewName } from '../app/printable-names.ts';
import type { TimeView } from '../app/times.view.ts';
import { viewPerson } from '../issues/people.view.ts';
import type { People, PersonView } from '../issues/people.view.ts';

/** One line of the box: a problem and its remedy. */
interface BoxLine {
  icon: string;
  tone: 'good' | 'bad' | 'wait' | 'quiet';
  title: string;
  text: string | null;
}

interface CheckView extends StatusView {
  context: string;
  description: string;
  url: string | null;
  isRequired: boolean;
}

interface StyleView {
  value: string;
  text: string;
  button: string;
  url: string;
  isChosen: boolean;
}

/** The box in which a pull request is merged. */
interface MergeBoxView {
  round: number;
  lines: BoxLine[];
  checks: CheckView[];
  checksTitle: string;
  conflicts: ConflictsView | null;
  /** Null for a viewer who may not merge. */
  merge: MergeFormView | null;
  whenReady: { by: PersonView | null; style: string; mayCancel: boolean } | null;
  queued: QueuePositionView | null;
  may: { markReady: boolean; markDraft: boolean; update: boolean };
}

/** Its place in the merge queue. */
export interface QueuePositionView {
  place: number;
  length: number;
  isTesting: boolean;
  by: PersonView | null;
  since: TimeView;
  /** URLs of the runs that test it, and of the whole queue. */
  runsUrl: string;
  url: string;
  mayLeave: boolean;
  mayBeFirst: boolean;
}

interface MergeFormView {
  styles: StyleView[];
  style: string;
  button: string;
  /** Null for a style that creates no commit. */
  message: { title: string; body: string } | null;
  isReady: boolean;
  mayBypass: boolean;
  bypasses: boolean;
  mayWait: boolean;
  /** Whether the merge queue of the branch merges. */
  isQueue: boolean;
  /** Null if there is no branch to delete. */
  deletesBranch: boolean | null;
  branch: string;
}

/** The submitted values of a merge form. */
export interface MergeForm {
  style: string;
  title: string;
  body: string;
  deletesBranch: boolean;
  bypasses: boolean;
}

const styleWords: Readonly<Record<string, { text: string; button: string }>> = translated({
  MERGE: { text: 'pulls.merge_box.merge_commit', button: 'pulls.merge_box.merge_pull_request' },
  SQUASH: { text: 'pulls.merge_box.squash', button: 'pulls.merge_box.squash_and_merge' },
  REBASE: { text: 'pulls.merge_box.rebase', button: 'pulls.merge_box.rebase_and_merge' },
  FORWARD: { text: 'pulls.merge_box.fast_forward', button: 'pulls.merge_box.fast_forward' },
});

interface MergeBoxContext {
  url: string;
  people: People;
  described: DescribedPull;
  clone: CloneBoxView;
  conflicts: ReadConflicts;
  /** Printable names of the two branches. */
  sides: { base: string; head: string };
  /** `?style=` of the URL. */
  style: string | null;
  form: MergeForm | null;
  queued: QueuePositionView | null;
  /** URL of this repository. */
  repositoryUrl: string;
  /** Whether the viewer can push to the head repository, and so delete its branch. */
  mayPushBranch: boolean;
}

export function viewMergeBox(box: MergeBox, around: MergeBoxContext): MergeBoxView {
  const { pull } = around.described;
  const { mergeState } = box.state;
  return {
    round: pull.lastRound,
    lines: viewLines(box, pull, around.people),
    checks: viewChecks(box, around.repositoryUrl),
    checksTitle: checksTitle(box),
    conflicts: viewConflicts(box, around.conflicts, around.sides, commandsFor(around)),
    merge: box.messages && viewMergeForm(box, box.messages, around),
    whenReady: box.whenReady && {
      by: box.whenReady.by === null ? null : viewPerson(box.whenReady.by, around.people),
      style: (styleWords[box.whenReady.style]?.text ?? '').toLowerCase(),
      mayCancel: box.mayMerge,
    },
    queued: around.queued,
    may: {
      markReady: pull.isDraft && box.mayEdit,
      markDraft: !pull.isDraft && box.mayEdit,
      update: box.isBehind && box.mayPushHead && mergeState === 'CLEAN',
    },
  };
}

/** Blocks that have their own line or part of the box. */
const shownElsewhere: readonly MergeBlock['kind'][] = ['level', 'checks', 'not_open'];

function viewLines(box: MergeBox, pull: DescribedPull['pull'], people: People): BoxLine[] {
  const { blocks, approvedBy } = box.verdict;
  const names = (ids: readonly string[]): string => ids.map((id) => viewPerson(id, people).name).join(', ');
  const lines = blocks
    .filter(({ kind }) => !shownElsewhere.includes(kind))
    .map((block): BoxLine => viewBlock(block, names));
  const isApproved = approvedBy.length > 0 && !blocks.some(({ kind }) => kind === 'approvals' || kind === 'owners');
  if (isApproved)
    lines.push({
      icon: 'check',
      tone: 'good',
      title: t('pulls.merge_box.approved'),
      text: t('pulls.merge_box.by_names', { names: names(approvedBy) }),
    });
  if (box.isBehind && !blocks.some(({ kind }) => kind === 'behind'))
    lines.push({
      icon: 'clock',
      tone: 'quiet',
      title: t('pulls.merge_box.the_base_branch_has_new_commits'),
      text: null,
    });
  if (pull.headBranch !== null && box.headTip !== null && box.headTip !== pull.headOid)
    lines.push({
      icon: 'clock',
      tone: 'quiet',
      title: t('pulls.merge_box.the_branch_has_newer_commits_that'),
      text: t('pulls.merge_box.they_become_a_round_after_they'),
    });
  if (box.state.mergeState === 'CLEAN')
    lines.push({
      icon: 'check',
      tone: 'good',
      title: t('pulls.merge_box.no_conflicts_with_the_base_branch'),
      text: null,
    });
  return lines;
}

const blockTitles: Readonly<Partial<Record<MergeBlock['kind'], [icon: string, tone: BoxLine['tone'], title: string]>>> =
  translated({
    draft: ['pull', 'wait', 'pulls.merge_box.this_is_a_draft'],
    no_base: ['alert', 'bad', 'pulls.merge_box.the_base_branch_no_longer_exists'],
    conflict: ['alert', 'bad', 'pulls.merge_box.conflicts_with_the_base_branch'],
    unknown: ['clock', 'wait', 'pulls.merge_box.it_is_unknown_whether_this_can'],
    empty: ['check', 'quiet', 'pulls.merge_box.nothing_to_merge'],
    unrelated: ['alert', 'bad', 'pulls.merge_box.no_common_history'],
    approvals: ['review', 'wait', 'pulls.merge_box.approvals_are_missing'],
    owners: ['review', 'wait', 'pulls.merge_box.code_owners_must_approve'],
    changes_requested: ['alert', 'bad', 'pulls.merge_box.changes_were_requested'],
    threads: ['comment', 'wait', 'pulls.merge_box.threads_are_open'],
    behind: ['clock', 'wait', 'pulls.merge_box.the_branch_is_behind_its_base'],
    needs: ['clock', 'wait', 'pulls.merge_box.another_pull_request_comes_first'],
    queue: ['clock', 'quiet', 'pulls.merge_box.a_merge_queue_merges_into_this'],
    style: ['alert', 'wait', 'pulls.merge_box.this_merge_method_is_not_allowed'],
  });

function viewBlock(block: MergeBlock, names: (ids: readonly string[]) => string): BoxLine {
  const [icon, tone, title] = blockTitles[block.kind] ?? ['alert', 'wait', explainBlock(block)];
  const text = {
    draft: t('pulls.merge_box.mark_it_as_ready_for_review'),
    no_base: t('pulls.merge_box.choose_another_base_branch'),
    conflict: null,
    unknown: t('pulls.merge_box.it_is_too_large_to_check'),
    empty: t('pulls.merge_box.the_base_branch_already_has_all'),
    unrelated: t('pulls.merge_box.the_two_branches_have_no_commit'),
    behind: t('pulls.merge_box.update_it_with_the_base_branch'),
    queue: t('pulls.merge_box.it_tests_each_pull_request_as'),
  }[block.kind as string];
  if (block.kind === 'changes_requested')
    return { icon, tone, title, text: t('pulls.merge_box.by_names', { names: names(block.by) }) };
  return { icon, tone, title, text: text === undefined ? explain(block) : text };
}

/** What `explainBlock` says, in the language of the viewer. */
function explain(block: MergeBlock): string {
  switch (block.kind) {
    case 'approvals':
      return t(block.isNamed ? 'pulls.merge_box.need_approvals_of_named' : 'pulls.merge_box.need_approvals', {
        need: block.need,
        have: block.have,
      });
    case 'owners':
      return t('pulls.merge_box.owners_have_not_approved', {
        patterns: block.missing.map(({ pattern }) => viewName(pattern)).join(', '),
      });
    case 'threads':
      return t('pulls.merge_box.threads_not_resolved', { open: block.open });
    default:
      return explainBlock(block);
  }
}

const requiredBy = ({ rule }: MergeBox, context: string): boolean =>
  (rule?.merging.checks ?? []).some((check) =>
    check.endsWith('*') ? context.startsWith(check.slice(0, -1)) : check === context,
  );

const checkWords = translated({
  success: 'pulls.merge_box.passed',
  pending: 'pulls.merge_box.running',
  failure: 'pulls.merge_box.failed',
  error: 'pulls.merge_box.error',
} as const);

function viewChecks(box: MergeBox, repositoryUrl: string): CheckView[] {
  const there = box.checks.map(
    ({ context, state, description, targetUrl }): CheckView => ({
      ...viewCommitState(state),
      text: checkWords[state],
      context: viewName(context),
      description: translateTerm(viewName(description)),
      url: targetUrl === null || targetUrl === '' ? null : addressOf(targetUrl, repositoryUrl),
      isRequired: requiredBy(box, context),
    }),
  );
  const blocks = box.verdict.blocks.flatMap((block) => (block.kind === 'checks' ? block.missing : []));
  const missing = blocks
    .filter(({ state }) => state === 'missing')
    .map(
      ({ context }): CheckView => ({
        ...viewCommitState('pending'),
        text: t('pulls.merge_box.expected'),
        context: viewName(context),
        description: t('pulls.merge_box.not_reported_yet'),
        url: null,
        isRequired: true,
      }),
    );
  return [...there, ...missing];
}

/** URLs of our own CI checks are below the repository. */
const addressOf = (target: string, repositoryUrl: string): string =>
  /^https?:\/\//.test(target) ? target : `${repositoryUrl}/${target}`;

function checksTitle(box: MergeBox): string {
  const checks = viewChecks(box, '');
  const failed = box.checks.filter(({ state }) => state === 'failure' || state === 'error').length;
  const passed = box.checks.filter(({ state }) => state === 'success').length;
  if (failed > 0) return t('pulls.merge_box.failed_checks', { count: failed });
  if (passed < checks.length)
    return t('pulls.merge_box.passed_of_length_checks_passed', { passed, length: checks.length });
  return checks.length === 1
    ? t('pulls.merge_box.the_check_has_passed')
    : t('pulls.merge_box.all_length_checks_have_passed', { length: checks.length });
}

function viewMergeForm(
  box: MergeBox,
  messages: NonNullable<MergeBox['messages']>,
  { url, described, style: wanted, form, mayPushBranch }: MergeBoxContext,
): MergeFormView {
  const { mayBypass } = box.verdict;
  const blocks = box.verdict.blocks.filter(({ kind }) => kind !== 'queue');
  const asked = (form?.style ?? wanted ?? '').toUpperCase();
  const style = box.styles.find((each) => each === asked) ?? box.styles[0] ?? 'MERGE';
  const { title, body } = messages[style];
  const { pull, head } = described;
  const isDefault = head.repository !== null && head.repository.repository.defaultBranch === head.branch;
  const isQueue = box.rule?.merging.upToDate === 'queue';
  // The queue merges later, and deletes no branch.
  const mayDelete = !isQueue && mayPushBranch && head.branch !== null && box.headTip !== null && !isDefault;
  return {
    styles: box.styles.map((value) => ({
      value,
      ...styleWords[value]!,
      url: `${url}?style=${value.toLowerCase()}#merge`,
      isChosen: value === style,
    })),
    style: style.toLowerCase(),
    button: styleWords[style]!.button,
    message: style === 'MERGE' || style === 'SQUASH' ? { title: form?.title ?? title, body: form?.body ?? body } : null,
    isReady: blocks.length === 0,
    mayBypass,
    bypasses: form?.bypasses ?? false,
    mayWait: blocks.length > 0 && !blocks.some(isAbsolute) && box.whenReady === null,
    deletesBranch: mayDelete ? (form?.deletesBranch ?? box.deletesBranch) : null,
    branch: viewName(pull.headBranch ?? ''),
    isQueue,
  };
}

/** Quotes a word of a shell command. Branch names may contain quotes and dollars. */
const word = (text: string): string => (/^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** Commands that resolve the conflicts locally. */
function commandsFor({ described: { pull, head }, clone }: MergeBoxContext): string {
  const base = word(pull.baseBranch);
  const address = clone.chosen === 'ssh' && clone.ssh !== null ? clone.ssh : clone.https;
  if (pull.source === 'PUSH')
    return [
      `git fetch origin ${base}`,
      `git rebase FETCH_HEAD`,
      '# solve the conflicts: git add, then git rebase --continue',
      `git push origin HEAD:refs/for/${base}`,
    ].join('\n');
  const branch = word(head.branch ?? '');
  const isFork = pull.source === 'FORK';
  return [
    `git switch ${branch}`,
    isFork ? `git pull --no-rebase ${word(address)} ${base}` : `git pull --no-rebase origin ${base}`,
    '# solve the conflicts: git add, then git commit',
    `git push origin ${branch}`,
  ].join('\n');
}
