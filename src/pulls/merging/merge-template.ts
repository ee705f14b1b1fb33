import type { MergeStyle } from '../../git/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { addressesOf, defaultMessages } from './merge-message.ts';
import type { MergeMessage } from './merge-message.ts';
import type { PullContext } from '../find-pull.ts';
import type { RoundCommit } from '../rounds/read-round.ts';
import { readTemplate } from '../templates/read-template.ts';

/** Folders of templates, in this order; the other two are where Gitea and Forgejo have them. */
const folders = ['.hearth', '.forgejo', '.gitea'].map((folder) => `${folder}/default_merge_message`);

/** Styles that make a commit of their own, with the file that their message begins with. */
const files: readonly [style: MergeStyle, isTemplate: RegExp][] = [
  ['MERGE', /^merge_template\.md$/i],
  ['SQUASH', /^squash_template\.md$/i],
];

/** A merge whose messages are wanted. */
interface MessageRequest extends Pick<PullContext, 'issue' | 'pull'> {
  headLabel: string;
  commits: readonly RoundCommit[];
  /** The tip of the base branch, which has the templates: a pull request does not bring its own. */
  tip: string;
}

/**
 * What the form of a merge begins with: `.hearth/default_merge_message/MERGE_TEMPLATE.md` and `SQUASH_TEMPLATE.md` of
 * the base branch, or those below `.forgejo` or `.gitea`, the first line as the title, with Gitea's variables; without
 * them, the usual messages.
 */
export async function messagesOf(
  deps: Pick<PullDeps, 'git' | 'issues' | 'accounts' | 'baseUrl'>,
  { path, repository, canonical }: Pick<Found, 'path' | 'repository' | 'canonical'>,
  { issue, pull, headLabel, commits, tip }: MessageRequest,
): Promise<Record<MergeStyle, MergeMessage>> {
  const people = await deps.accounts.addresses.peopleByAddress(addressesOf(commits));
  const messages = defaultMessages(issue, pull, headLabel, commits, repository.defaultBranch, people);
  for (const [style, isTemplate] of files) {
    const template = await readTemplate(deps, path, tip, { folders, isTemplate });
    if (template === null) continue;
    const { authorId } = issue;
    const author = authorId === null ? undefined : (await deps.accounts.peopleById([authorId])).get(authorId);
    const address = `/repos/${canonical.owner}/${canonical.name}/pulls/${issue.number}`;
    const values: Readonly<Record<string, string>> = {
      BaseRepoOwnerName: canonical.owner,
      BaseRepoName: canonical.name,
      BaseBranch: pull.baseBranch,
      HeadBranch: headLabel,
      PullRequestTitle: issue.title,
      PullRequestDescription: template.includes('PullRequestDescription')
        ? await deps.issues.pulls.textOf(issue.id)
        : '',
      PullRequestPosterName: author?.username ?? 'ghost',
      PullRequestIndex: String(issue.number),
      PullRequestReference: `#${issue.number}`,
      ReviewedOn: `Reviewed-on: ${deps.baseUrl ?? ''}${address}`,
    };
    messages[style] = fill(template, values);
  }
  return messages;
}

/** Variables are `${Name}`; others stay as they are. A value is not looked at for variables. */
function fill(template: string, values: Readonly<Record<string, string>>): MergeMessage {
  const [title = '', ...body] = template
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .trim()
    .split('\n');
  const filled = (text: string): string =>
    text.replace(/\$\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? values[name]! : whole));
  return { title: filled(title).replaceAll('\n', ' ').trim(), body: filled(body.join('\n')).trim().slice(0, 20_000) };
}
