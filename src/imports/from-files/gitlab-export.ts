import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import type { SourceAddress } from '../connect/open-source.ts';
import { readDiscussions, settleApprovals } from '../sources/gitlab/gitlab-discussions.ts';
import {
  readBranchRule,
  readHook,
  readIssue,
  readLabel,
  readMilestone,
  readPull,
  readReactions,
  readTagRule,
} from '../sources/gitlab/gitlab-shapes.ts';
import { flagOf, idOf, listOf, objectOf, textOf, timeOf } from '../sources/read-json.ts';
import type { Json } from '../sources/read-json.ts';
import { unreadable } from './copy-folder.ts';
import { asApprovals, asDiscussions, asListed, asMergeRequest, asReactions } from './gitlab-export-shapes.ts';
import type { Logins } from './gitlab-export-shapes.ts';
import { attachedFile, PlainFolder } from './plain-folder.ts';
import { readJsonFile, readLines } from './read-json-files.ts';

const tree = 'tree/project';
const [publicLevel, internalLevel] = [20, 10];

/** Contents of an export that are not imported. */
const leftOut: readonly (readonly [file: string, name: string])[] = [
  ['snippets', 'snippets'],
  ['boards', 'boards'],
  ['design_management_repository', 'designs'],
];

/**
 * Converts a project export of GitLab, whose lists have one item per line (since 13.0), to a plain folder. Throws
 * `unreadable_import_files`.
 * @see docs.gitlab.com, "Migrate projects and groups by using file exports"
 */
export async function convertGitlabExport(from: string, to: string, address: SourceAddress): Promise<void> {
  const folder = new PlainFolder(from, to);
  const { tell } = folder;
  const project = objectOf(await readJsonFile(path.join(from, 'tree/project.json')));
  if (Object.keys(project).length === 0) throw unreadable('tree/project.json of this export cannot be read.');
  const lines = (name: string): AsyncGenerator<Json> => readLines(from, `${tree}/${name}.ndjson`, tell);

  const logins = new Map<string, string>();
  for await (const { user } of lines('project_members')) {
    const { id, username } = objectOf(user);
    if (textOf(username) !== '') logins.set(idOf(id), textOf(username));
  }
  const known = { labels: new Set<string>(), milestones: new Set<string>() };
  /** Labels of groups are contained in the issues that have them. */
  const addLabel = async (row: Json): Promise<void> => {
    const label = readLabel({ ...row, name: row['title'] });
    if (label.name === '' || known.labels.has(label.name)) return;
    known.labels.add(label.name);
    await folder.add('labels', label);
  };
  const addMilestone = async (row: Json): Promise<void> => {
    const milestone = readMilestone(row);
    if (milestone.title === '' || known.milestones.has(milestone.title)) return;
    known.milestones.add(milestone.title);
    await folder.add('milestones', milestone);
  };
  for await (const row of lines('labels')) await addLabel(row);
  for await (const row of lines('milestones')) await addMilestone(row);

  for (const isPull of [false, true])
    for await (const row of lines(isPull ? 'merge_requests' : 'issues')) {
      for (const link of listOf(row['label_links'])) await addLabel(objectOf(link['label']));
      await addMilestone(objectOf(row['milestone']));
      await addTalk(folder, row, isPull, logins);
    }

  for await (const row of lines('protected_branches')) await folder.add('rules', readBranchRule(row));
  for await (const row of lines('protected_tags')) await folder.add('rules', readTagRule(row));
  for (const row of listOf(project['hooks'])) await folder.add('hooks', readHook(row));
  for await (const row of lines('releases')) await addRelease(folder, row, address);
  await moveUploads(folder, from);
  await folder.move('lfs-objects', 'lfs');
  for (const [kind, name] of leftOut) {
    let count = 0;
    for await (const _ of lines(kind)) count += 1;
    if (count > 0) tell(name, `${count} did not come: there is no such thing here`);
  }

  const hasCode = (await folder.move('project.bundle', 'git')) !== null;
  const hasWiki = (await folder.move('project.wiki.bundle', 'wiki')) !== null;
  const level = project['visibility_level'];
  if (level === internalLevel) tell('visibility', 'is internal there and private here');
  await folder.finish({
    repository: {
      name: textOf(project['path']),
      description: textOf(project['description']),
      website: '',
      defaultBranch: textOf(project['default_branch']) || null,
      isPrivate: level !== publicLevel,
      isArchived: flagOf(project['archived']),
      isEmpty: !hasCode,
      topics: listOf(project['topics'])
        .map((row) => textOf(row['name']))
        .filter(Boolean),
      hasWiki,
    },
    toDo: [
      ...[...logins.values()].map((login) => `Give ${login} access, if it is the same person here.`),
      ...listOf(project['deploy_keys']).map(
        (row) => `Add the deploy key ${textOf(row['title'])} again, if it is still needed.`,
      ),
      'Set secrets and variables: the export has none. Write .gitlab-ci.yml, if there is one, as a workflow.',
    ],
    pullRefs: ['refs/merge-requests/*/head'],
    isApart: true,
  });
}

async function addTalk(folder: PlainFolder, row: Json, isPull: boolean, logins: Logins): Promise<void> {
  const whole = isPull ? asMergeRequest(row, logins) : asListed(row, logins);
  const listed = readIssue(whole, isPull);
  if (listed === null) return folder.tell(isPull ? 'merge requests' : 'issues', 'one without a number did not come');
  const { iid, issue, isConfidential } = listed;
  if (isConfidential) return folder.tell(`#${iid}`, 'is confidential there and did not come');
  const name = isPull ? `!${iid}` : `#${iid}`;
  await folder.add(isPull ? 'talks' : 'issues', {
    number: iid,
    ...issue,
    reactions: readReactions(asReactions(row, logins)),
  });
  const talk = readDiscussions(asDiscussions(row, logins), iid);
  if (talk.hidden > 0) folder.tell(name, `${talk.hidden} internal notes did not come`);
  const reactions = new Map(
    listOf(row['notes']).map((note) => [idOf(note['id']), readReactions(asReactions(note, logins))]),
  );
  const comments = talk.comments.map((comment) => ({ ...comment, reactions: reactions.get(comment.id) ?? [] }));
  await folder.add(isPull ? 'pull-comments' : 'comments', ...comments);
  if (!isPull) return;
  const pull = readPull(whole, iid);
  if (pull === null) folder.tell(name, 'names no commit of its head');
  else await folder.add('pulls', pull);
  const last = Math.max(0, ...talk.reviews.map(({ submittedAt }) => submittedAt));
  await folder.addReview(
    iid,
    ...settleApprovals(talk.reviews, asApprovals(row, logins), last).map((review) => ({ review })),
    ...talk.notes.map((note) => ({ note })),
  );
}

async function addRelease(folder: PlainFolder, row: Json, { url }: SourceAddress): Promise<void> {
  const tag = textOf(row['tag']);
  if (tag === '') return;
  const createdAt = timeOf(row['created_at']) ?? 0;
  const title = textOf(row['name']);
  for (const link of listOf(row['links']))
    folder.tell(
      'releases',
      `the link ${textOf(link['name'])} of ${tag} leads to ${textOf(link['url'])}; it did not come`,
    );
  await folder.add('releases', {
    release: {
      ...{ origin: `${url}/-/releases/${encodeURIComponent(tag.toWellFormed())}`, tag, target: textOf(row['sha']) },
      ...{ title: title === tag ? '' : title, body: textOf(row['description']), isDraft: false, isPrerelease: false },
      ...{ author: null, createdAt, publishedAt: timeOf(row['released_at']) ?? createdAt },
    },
    files: [],
  });
}

/** `uploads/<32 hex digits>/<name>`: texts reference a file by both. */
async function moveUploads(folder: PlainFolder, from: string): Promise<void> {
  const secrets = (await readdir(path.join(from, 'uploads')).catch(nullIfAbsent)) ?? [];
  for (const secret of secrets) {
    if (!/^[0-9a-f]{32}$/.test(secret)) continue;
    const [first] = (await readdir(path.join(from, 'uploads', secret)).catch(() => [])).toSorted();
    if (first !== undefined) await folder.move(`uploads/${secret}/${first}`, attachedFile(`uploads/${secret}`));
  }
}

export async function isGitlabExport(folder: string): Promise<boolean> {
  return (await stat(path.join(folder, 'tree/project.json')).catch(nullIfAbsent))?.isFile() === true;
}
