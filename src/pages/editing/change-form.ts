import { invalid, isRefusal } from '../../kernel/index.ts';
import type { Form } from '../../http/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { FileOperation } from '../../repositories/index.ts';
import { newPullUrl } from '../app/new-pull-url.ts';
import { viewName } from '../app/printable-names.ts';
import { seeOther } from '../app/reply.ts';
import type { RedirectReply } from '../app/reply.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { issueUrl } from '../issues/issue-urls.ts';
import type { EditingDeps } from './deps.ts';
import type { EditTarget } from './edit-target.ts';

/** The part of a form with the target and the message of a change. */
export interface ChangeForm {
  message: string;
  description: string;
  /** `branch`, `new`, or `propose` for users who cannot push. */
  target: 'branch' | 'new' | 'propose';
  newBranch: string;
  opensPull: boolean;
}

export const blankChange = ({ mayPush, mayWrite, suggested, takesPulls }: EditTarget): ChangeForm => ({
  message: '',
  description: '',
  target: mayPush ? 'branch' : mayWrite ? 'new' : 'propose',
  newBranch: suggested,
  opensPull: takesPulls,
});

/** Fields `message`, `description`, `target`, `new_branch`, `opens_pull`. */
export function readChange(form: Form, place: EditTarget): ChangeForm {
  const asked = form.text('target');
  const usual = blankChange(place);
  const isNew = place.mayWrite && (asked === 'new' || !place.mayPush);
  return {
    message: form.text('message').replaceAll(/\s+/g, ' ').trim(),
    description: form.text('description').trim(),
    target: isNew ? 'new' : usual.target,
    newBranch: form.text('new_branch').trim() || usual.newBranch,
    opensPull: place.takesPulls && form.text('opens_pull') !== '',
  };
}

/** A change as submitted by its page. */
interface SentChange {
  operations: readonly FileOperation[];
  change: ChangeForm;
  /** The URL to redirect to after a commit to a branch. */
  leadsTo(branch: string, commit: string): string;
}

/** Commits a change to the target in the form, with a pull request if requested. Throws the errors of both. */
export async function sendChange(
  context: RepositoryContext,
  deps: EditingDeps,
  { branch, viewer }: EditTarget,
  { operations, change: { message, description, target, newBranch, opensPull }, leadsTo }: SentChange,
): Promise<RedirectReply> {
  const { found } = context;
  const { owner, name } = found.canonical;
  const url = repositoryUrl(found.canonical);
  const subject = message || deps.repositories.contents.usualSubject(operations);
  if (Buffer.byteLength(subject) > 1_000)
    throw invalid('message_too_long', 'The first line of a commit message can have at most 1,000 bytes.', {
      field: 'message',
    });
  if (target === 'propose') {
    const { issue } = await deps.pulls.propose(viewer, found.canonical, {
      base: branch,
      operations,
      title: subject,
      body: description,
    });
    return seeOther(issueUrl(url, issue.number, 'PULL'));
  }
  const changed = await deps.repositories.contents.change(viewer, owner, name, {
    branch,
    newBranch: target === 'new' ? newBranch : undefined,
    operations,
    message: description === '' ? subject : `${subject}\n\n${description}`,
  });
  if (target !== 'new' || !opensPull) return seeOther(leadsTo(changed.branch, changed.oid));
  return openPullOf(context, deps, {
    base: branch,
    head: changed.branch,
    title: subject.slice(0, 255),
    body: description,
  });
}

/** The branch exists now: if the pull request is refused, its own form shows the reason. */
export async function openPullOf(
  { viewer, found }: RepositoryContext,
  { pulls }: EditingDeps,
  wanted: { base: string; head: string; title: string; body: string },
): Promise<RedirectReply> {
  const url = repositoryUrl(found.canonical);
  try {
    const { issue } = await pulls.open(viewer, found.canonical, wanted);
    return seeOther(issueUrl(url, issue.number, 'PULL'));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return seeOther(newPullUrl(found, wanted.head, wanted.base) ?? `${url}/branches`);
  }
}

/** Locals of the templates for the location and the form. */
export const viewChange = (
  { branch, mayPush, mayWrite, rule, takesPulls }: EditTarget,
  change: ChangeForm,
  placeholder: string,
) => ({ ...change, branch: viewName(branch), mayPush, mayWrite, rule, takesPulls, placeholder });
