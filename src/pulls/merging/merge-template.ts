import type { MergeStyle } from '../../git/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { addressesOf, defaultMessages } from './merge-message.ts';
import type { MergeMessage } from './merge-message.ts';
import type { PullContext } from '../find-pull.ts';
import type { RoundCommit } from '../rounds/read-round.ts';
import { readTemplate } from '../templates/read-template.ts';

/** Folders of templates in order of precedence; the other two are those of Forgejo and Gitea. */
const folders = ['.hearth', '.forgejo', '.gitea'].map((folder) => `${folder}/default_merge_message`);

/** Styles that create their own commit, with the file name of their template. */
const files: readonly [style: MergeStyle, isTemplate: RegExp][] = [
  ['MERGE', /^merge_template\.md$/i],
  ['SQUASH', /^squash_template\.md$/i],
];

/** A merge that needs messages. */
interface MessageRequest extends Pick<PullContext, 'issue' | 'pull'> {
  headLabel: string;
  commits: readonly RoundCommit[];
  /** Tip of the base branch, whose templates apply: a pull request cannot bring its own. */
  tip: string;
}

/**
 * Initial messages of the merge form, from `.hearth/default_merge_message/MERGE_TEMPLATE.md` and `SQUASH_TEMPLATE.md`
 * of the base branch, or those below `.forgejo` or `.gitea`. The first line is the title; Gitea's variables are
 * replaced. Without templates, the default messages.
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

/** Replaces known variables `${Name}`; values are not expanded further. */
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
