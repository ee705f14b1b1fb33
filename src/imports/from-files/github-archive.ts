import { stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import { flagOf, listOf, numberOf, textOf, timeOf } from '../sources/read-json.ts';
import type { Json } from '../sources/read-json.ts';
import type { SourceReview } from '../sources/source.ts';
import type { SourceAddress } from '../connect/open-source.ts';
import { unreadable } from './copy-folder.ts';
import {
  attachmentKey,
  fileAt,
  foldEvent,
  readComment,
  readHook,
  readIssue,
  readPerson,
  readPull,
  readReview,
  readReviewComment,
  readRule,
  readThread,
} from './github-archive-shapes.ts';
import type { ArchiveNames, IssueEvents, ReviewThread } from './github-archive-shapes.ts';
import { readLabel, readMilestone } from '../sources/github/github-shapes.ts';
import { attachedFile, PlainFolder } from './plain-folder.ts';
import { readNumberedFiles } from './read-json-files.ts';

/** Contents of such an archive that are not imported. */
const leftOut: readonly (readonly [file: string, name: string])[] = [
  ['commit_comments', 'comments at commits'],
  ['discussions', 'discussions'],
  ['projects', 'projects'],
];

/**
 * Converts a migration archive of GitHub (`POST /user/migrations`, `/orgs/{org}/migrations`) to a plain folder: of its
 * repositories, the one with the given URL. Throws `unreadable_import_files`.
 * @see docs.github.com, REST API, Migrations; the files are named by `schema.json` 1.x
 */
export async function convertGithubArchive(from: string, to: string, address: SourceAddress): Promise<void> {
  const folder = new PlainFolder(from, to);
  const { tell } = folder;
  const files = (kind: string): AsyncGenerator<Json[]> => readNumberedFiles(from, kind, tell);
  const repository = await findRepository(files('repositories'), address);
  const home = `${textOf(repository['url'])}/`.toLowerCase();
  /** Only rows of this repository: an archive of an organisation has those of all. */
  async function* own(kind: string): AsyncGenerator<Json> {
    for await (const rows of files(kind))
      for (const row of rows)
        if (addresses.some((key) => `${textOf(row[key])}/`.toLowerCase().startsWith(home))) yield row;
  }

  const people = new Map<string, string>();
  for await (const rows of files('users'))
    for (const row of rows) if (textOf(row['login']) !== '') people.set(textOf(row['login']), textOf(row['name']));
  const milestones = new Map<string, string>();
  const names: ArchiveNames = { people, milestones };
  for (const row of listOf(repository['labels'])) await folder.add('labels', readLabel(row));
  for await (const row of own('milestones')) {
    milestones.set(textOf(row['url']), textOf(row['title']));
    await folder.add('milestones', readMilestone(row));
  }

  const events = new Map<number, IssueEvents>();
  for await (const row of own('issue_events')) foldEvent(events, row, names);
  for await (const row of own('issues')) {
    const issue = readIssue(row, false, names, events);
    if (issue === null) tell('issues', 'an issue without a number did not come');
    else await folder.add('issues', issue);
  }
  for await (const row of own('pull_requests')) {
    const talk = readIssue(row, true, names, events);
    const pull = readPull(row, names, events);
    if (talk !== null) await folder.add('talks', talk);
    if (pull !== null) await folder.add('pulls', pull);
    else if (talk !== null) tell(`#${talk.number}`, 'names no commit of its head');
  }
  for await (const row of own('issue_comments')) {
    const found = readComment(row, names);
    if (found !== null) await folder.add(found.isPull ? 'pull-comments' : 'comments', found.comment);
  }
  await convertReviews(folder, own, names);
  for await (const row of own('protected_branches')) await folder.add('rules', readRule(row));
  for (const row of listOf(repository['webhooks'])) await folder.add('hooks', readHook(row));
  await convertReleases(folder, own('releases'), names);
  for await (const row of own('attachments')) {
    const file = fileAt(row['asset_url']);
    if (file !== null) await folder.move(file, attachedFile(attachmentKey(row)));
  }
  for (const [kind, name] of leftOut) {
    let count = 0;
    for await (const _ of own(kind)) count += 1;
    if (count > 0) tell(name, `${count} did not come: there is no such thing here`);
  }

  const bare = fileAt(repository['git_url']) ?? `repositories/${addressOf(repository)}.git`;
  const wiki = fileAt(repository['wiki_url']) ?? bare.replace(/\.git$/, '.wiki.git');
  const hasCode = (await folder.move(bare, 'git')) !== null;
  const hasWiki = (await folder.move(wiki, 'wiki')) !== null;
  await folder.finish({
    repository: {
      name: textOf(repository['name']),
      description: textOf(repository['description']),
      website: textOf(repository['website']),
      defaultBranch: textOf(repository['default_branch']) || null,
      isPrivate: repository['private'] !== false,
      isArchived: flagOf(repository['is_archived']),
      isEmpty: !hasCode,
      topics: (Array.isArray(repository['topics']) ? repository['topics'] : []).map(textOf).filter(Boolean),
      hasWiki,
    },
    toDo: [
      ...listOf(repository['collaborators']).flatMap((row) => {
        const person = readPerson(row['user'], names);
        return person === null ? [] : [`Give ${person.login} access, if it is the same person here.`];
      }),
      'Push the objects of Git LFS with git lfs push --all, and set secrets and variables: the archive has none.',
    ],
    pullRefs: ['refs/pull/*/head'],
    isApart: false,
  });
}

/** URLs of a row, or of its parent. */
const addresses = ['url', 'issue', 'pull_request', 'issue_comment', 'repository', 'repository_url'];

const addressOf = (row: Json): string => textOf(row['url']).split('/').slice(-2).join('/');

/** Throws `unreadable_import_files` if the archive does not contain the repository. */
async function findRepository(files: AsyncGenerator<Json[]>, address: SourceAddress): Promise<Json> {
  const found: Json[] = [];
  for await (const rows of files) found.push(...rows);
  const named = found.find((row) => textOf(row['url']).toLowerCase() === address.url.toLowerCase());
  const only = named ?? (found.length === 1 ? found[0] : undefined);
  if (only === undefined || !/^https?:\/\/[^/]+\/[^/]+\/[^/]+$/.test(textOf(only['url'])))
    throw unreadable(`The archive has ${found.length} repositories, and none of them is ${address.url}.`);
  return only;
}

async function convertReviews(
  folder: PlainFolder,
  own: (kind: string) => AsyncGenerator<Json>,
  names: ArchiveNames,
): Promise<void> {
  const threads = new Map<string, ReviewThread>();
  for await (const row of own('pull_request_review_threads')) threads.set(textOf(row['url']), readThread(row, names));
  const known = new Set<string>();
  for await (const row of own('pull_request_reviews')) {
    const found = readReview(row, names);
    if (found === null) continue;
    known.add(found.review.id);
    await folder.addReview(found.number, { review: found.review });
  }
  for await (const row of own('pull_request_review_comments')) {
    const found = readReviewComment(row, names, threads);
    if (found === null) continue;
    const { number, note } = found;
    if (known.has(note.reviewId)) {
      await folder.addReview(number, { note });
      continue;
    }
    // Comments older than GitHub's reviews: each becomes a review of its own.
    const review: SourceReview = {
      id: `comment-${note.id}`,
      author: note.author,
      verdict: 'COMMENT',
      body: '',
      commitOid: note.commitOid,
      isDismissed: false,
      submittedAt: note.createdAt,
    };
    await folder.addReview(number, { review }, { note: { ...note, reviewId: review.id } });
  }
}

async function convertReleases(folder: PlainFolder, rows: AsyncGenerator<Json>, names: ArchiveNames): Promise<void> {
  let count = 0;
  for await (const row of rows) {
    const tag = textOf(row['tag_name']) || textOf(row['pending_tag']);
    if (tag === '') continue;
    const createdAt = timeOf(row['created_at']) ?? 0;
    const origin = textOf(row['url']) || `tag ${tag}`;
    const title = textOf(row['name']);
    const files = [];
    for (const asset of listOf(row['release_assets'])) {
      count += 1;
      const name = textOf(asset['asset_name']) || textOf(asset['name']);
      const at = timeOf(asset['created_at']) ?? createdAt;
      const to = `release_assets/${count}`;
      const bytes = await folder.move(fileAt(asset['asset_url']) ?? '', to);
      files.push({
        ...{ origin: `${origin} ${name} ${bytes ?? numberOf(asset['size']) ?? ''} ${at}`, name, bytes },
        ...{ sha256: null, createdAt: at, url: to },
      });
    }
    await folder.add('releases', {
      release: {
        ...{ origin, tag, target: textOf(row['target_commitish']), title: title === tag ? '' : title },
        ...{ body: textOf(row['body']), isDraft: textOf(row['state']) === 'draft' },
        ...{ isPrerelease: flagOf(row['prerelease']), author: readPerson(row['user'], names)?.login ?? null },
        ...{ createdAt, publishedAt: timeOf(row['published_at']) ?? createdAt },
      },
      files,
    });
  }
}

export async function isGithubArchive(folder: string): Promise<boolean> {
  const found = await stat(path.join(folder, 'repositories_000001.json')).catch(nullIfAbsent);
  return found?.isFile() === true;
}
