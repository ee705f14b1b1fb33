import { stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import {
  colourOf,
  dayOf,
  flagOf,
  idOf,
  listOf,
  numberOf,
  objectOf,
  oidOf,
  textOf,
  timeOf,
} from '../sources/read-json.ts';
import type { Json } from '../sources/read-json.ts';
import type { SourceComment, SourceIssue, SourcePerson, SourcePull, SourceReview } from '../sources/source.ts';
import type { SourceAddress } from '../connect/open-source.ts';
import { unreadable } from './copy-folder.ts';
import { PlainFolder } from './plain-folder.ts';
import { readJsonFile } from './read-json-files.ts';

/** Files of such a folder; only the first is required. */
const files = ['issues', 'pulls', 'labels', 'releases', 'repo'] as const;

/**
 * Converts the output of `gh` with `--json` to a plain folder: `issues.json` of `gh issue list`, `pulls.json` of `gh pr
 * list`, `labels.json` of `gh label list`, `releases.json` of `gh release list`, `repo.json` of `gh repo view`, each
 * with its documented fields, and `git`, a mirror clone. Fields that were not requested are absent. Throws
 * `unreadable_import_files`.
 * @see cli.github.com/manual, `gh issue list` and its neighbours, "JSON Fields"
 */
export async function convertGhFolder(from: string, to: string, { project, url }: SourceAddress): Promise<void> {
  const folder = new PlainFolder(from, to);
  const found = Object.fromEntries(
    await Promise.all(files.map(async (name) => [name, await readJsonFile(path.join(from, `${name}.json`))] as const)),
  );
  for (const name of files) {
    const isThere = found[name] !== null;
    const isGood = name === 'repo' ? typeof found[name] === 'object' : Array.isArray(found[name]);
    if (isThere && !isGood) throw unreadable(`${name}.json cannot be read: it is no output of gh with --json.`);
  }
  const listed = [...listOf(found['issues']), ...listOf(found['pulls'])];
  const titles = new Map<string, Json>();
  for (const { milestone } of listed) titles.set(textOf(objectOf(milestone)['title']), objectOf(milestone));
  titles.delete('');
  for (const [title, row] of titles) {
    await folder.add('milestones', {
      ...{ title, description: textOf(row['description']), dueOn: dayOf(row['dueOn']), closedAt: null, createdAt: 0 },
    });
  }
  const labels = new Map(
    [...listed.flatMap((row) => listOf(row['labels'])), ...listOf(found['labels'])].map((row) => [
      textOf(row['name']),
      row,
    ]),
  );
  labels.delete('');
  for (const [name, row] of labels)
    await folder.add('labels', {
      ...{ name, colour: colourOf(row['color']), description: textOf(row['description']), isExclusive: false },
    });
  for (const row of listOf(found['issues'])) await addTalk(folder, row, false);
  for (const row of listOf(found['pulls'])) await addTalk(folder, row, true);
  for (const row of listOf(found['releases'])) await addRelease(folder, row, url);

  const repository = objectOf(found['repo']);
  const hasCode = (await folder.move('git', 'git')) !== null;
  const hasWiki = (await folder.move('wiki', 'wiki')) !== null;
  await folder.finish({
    repository: {
      name: textOf(repository['name']) || project.split('/').at(-1)!,
      description: textOf(repository['description']),
      website: textOf(repository['homepageUrl']),
      defaultBranch: textOf(objectOf(repository['defaultBranchRef'])['name']) || null,
      isPrivate: repository['isPrivate'] !== false,
      isArchived: flagOf(repository['isArchived']),
      isEmpty: !hasCode,
      topics: listOf(repository['repositoryTopics'])
        .map((row) => textOf(row['name']))
        .filter(Boolean),
      hasWiki,
    },
    toDo: ['gh tells neither comments at lines nor who reacted, nor rules, webhooks, files of releases and access.'],
    pullRefs: ['refs/pull/*/head'],
    isApart: false,
  });
}

function readPerson(value: unknown): SourcePerson | null {
  const { login: given, name, is_bot: isBot } = objectOf(value);
  const login = textOf(given);
  if (login === '' || login === 'ghost') return null;
  const bot = isBot === true && !login.endsWith('[bot]') ? `${login.replace(/^app\//, '')}[bot]` : login;
  return { login: bot, id: '', name: textOf(name), email: '', url: '' };
}

const peopleOf = (value: unknown): SourcePerson[] => listOf(value).flatMap((one) => readPerson(one) ?? []);

const closeReasons: Readonly<Record<string, SourceIssue['closeReason']>> = {
  COMPLETED: 'completed',
  NOT_PLANNED: 'not_planned',
  DUPLICATE: 'duplicate',
};

async function addTalk(folder: PlainFolder, row: Json, isPull: boolean): Promise<void> {
  const number = numberOf(row['number']);
  if (number === null) return folder.tell(isPull ? 'pulls.json' : 'issues.json', 'a row without a number did not come');
  const createdAt = timeOf(row['createdAt']) ?? 0;
  const isOpen = textOf(row['state']) === 'OPEN' || textOf(row['state']) === '';
  await folder.add(isPull ? 'talks' : 'issues', {
    ...{ number, isPull, title: textOf(row['title']), body: textOf(row['body']), author: readPerson(row['author']) },
    ...{ isOpen, closeReason: closeReasons[textOf(row['stateReason'])] ?? null, isLocked: false },
    labels: listOf(row['labels']).map((label) => textOf(label['name'])),
    milestone: textOf(objectOf(row['milestone'])['title']) || null,
    assignees: peopleOf(row['assignees']),
    isPinned: flagOf(row['isPinned']),
    createdAt,
    updatedAt: timeOf(row['updatedAt']) ?? createdAt,
    closedAt: isOpen ? null : (timeOf(row['closedAt']) ?? timeOf(row['mergedAt'])),
    reactions: [],
  });
  const given = listOf(row['comments']);
  const comments = given.flatMap((one, at) => (isEmpty(one) ? [] : readComment(one, number, at)));
  if (comments.length < given.length) folder.tell(`#${number}`, 'a comment that cannot be read did not come');
  await folder.add(isPull ? 'pull-comments' : 'comments', ...comments);
  if (!isPull) return;
  const pull = readPull(row, number);
  if (pull === null) folder.tell(`#${number}`, 'names no commit of its head');
  else await folder.add('pulls', pull);
  const reviews = listOf(row['reviews']).flatMap((one) => readReview(one) ?? []);
  await folder.addReview(number, ...reviews.map((review) => ({ review })));
}

const isEmpty = (row: Json): boolean => Object.keys(row).length === 0;

function readComment(row: Json, number: number, at: number): SourceComment {
  const createdAt = timeOf(row['createdAt']) ?? 0;
  // The id in its URL is that of the REST API.
  const [, id] = /#issuecomment-(\d{1,19})$/.exec(textOf(row['url'])) ?? [];
  return {
    ...{ id: id ?? (idOf(row['id']) || `at-${at + 1}`), number, author: readPerson(row['author']) },
    ...{ body: textOf(row['body']), createdAt, updatedAt: timeOf(row['updatedAt']) ?? createdAt, reactions: [] },
  };
}

function readPull(row: Json, number: number): SourcePull | null {
  const headOid = oidOf(row['headRefOid']);
  if (headOid === null) return null;
  const mergedAt = timeOf(row['mergedAt']);
  return {
    ...{ number, headOid, headBranch: textOf(row['headRefName']) || null },
    isOwnBranch: row['isCrossRepository'] === false,
    ...{ baseBranch: textOf(row['baseRefName']), baseOid: oidOf(row['baseRefOid']), isDraft: flagOf(row['isDraft']) },
    maintainersMayPush: flagOf(row['maintainerCanModify']),
    mergedAt,
    mergedBy: mergedAt === null ? null : readPerson(row['mergedBy']),
    mergedOid: mergedAt === null ? null : oidOf(objectOf(row['mergeCommit'])['oid']),
    requested: peopleOf(row['reviewRequests']),
  };
}

const verdicts: Readonly<Record<string, SourceReview['verdict']>> = {
  APPROVED: 'APPROVE',
  CHANGES_REQUESTED: 'REQUEST_CHANGES',
  COMMENTED: 'COMMENT',
  DISMISSED: 'COMMENT',
};

/** Null for drafts. */
function readReview(row: Json): SourceReview | null {
  const verdict = verdicts[textOf(row['state'])];
  const id = idOf(row['id']);
  if (verdict === undefined || id === '') return null;
  return {
    ...{ id, author: readPerson(row['author']), verdict, body: textOf(row['body']) },
    commitOid: oidOf(objectOf(row['commit'])['oid']),
    isDismissed: textOf(row['state']) === 'DISMISSED',
    submittedAt: timeOf(row['submittedAt']) ?? 0,
  };
}

async function addRelease(folder: PlainFolder, row: Json, url: string): Promise<void> {
  const tag = textOf(row['tagName']);
  if (tag === '') return;
  const createdAt = timeOf(row['createdAt']) ?? timeOf(row['publishedAt']) ?? 0;
  const title = textOf(row['name']);
  await folder.add('releases', {
    release: {
      ...{ origin: `${url}/releases/tag/${encodeURIComponent(tag.toWellFormed())}`, tag, target: '' },
      ...{ title: title === tag ? '' : title, body: textOf(row['body']), isDraft: flagOf(row['isDraft']) },
      ...{ isPrerelease: flagOf(row['isPrerelease']), author: readPerson(row['author'])?.login ?? null },
      ...{ createdAt, publishedAt: timeOf(row['publishedAt']) ?? createdAt },
    },
    files: [],
  });
}

export const isGhFolder = async (folder: string): Promise<boolean> =>
  (await stat(path.join(folder, 'issues.json')).catch(nullIfAbsent))?.isFile() === true;
