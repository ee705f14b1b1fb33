import { isDomainError } from '../../kernel/index.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import { maxPushedCommits } from '../schema/received-push-schema.ts';
import type { PushedCommit } from '../schema/received-push-schema.ts';
import { remoteFollowSchema } from '../schema/remote-follow-schema.ts';
import type { ActivityHandler } from './incoming-activity.ts';
import { publicAudience, pushContext } from '../documents/contexts.ts';
import { asObject, cleanText, embedded, idOf, itemsOf, objectId, webUrl } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { escapeHtml, isoTime, unescapeHtml } from '../documents/escape-html.ts';

/** Where a push went, and by whom. */
export interface PushPlace {
  /** Actor ids: of the repository, and of the person who pushed, or of the instance. */
  repositoryActorId: string;
  pusherActorId: string;
  pusherName: string;
  /** `owner/name`, and the URL of its page. */
  repositoryName: string;
  repositoryUrl: string;
  pushedAt: number;
}

/** A branch of a local repository has moved. */
export interface BranchPush extends PushPlace {
  /** Without `refs/heads/`. */
  branch: string;
  hashBefore: string;
  hashAfter: string;
  /** The old tip is not among the ancestors of the new one. */
  isForced: boolean;
  /** The number of new commits, and the newest ones with their details. */
  totalCommits: number;
  commits: readonly NewCommit[];
}

interface NewCommit {
  hash: string;
  subject: string;
  authorName: string;
  /** Actor of the person whose verified address the author's is; null for everyone else. */
  authorActorId: string | null;
  authoredAt: number;
  committedAt: number;
}

const maxSummary = 250;

/** A Push for one branch (ForgeFed), to everyone and the followers; no e-mail address in it. */
export function pushContent(push: BranchPush): Json {
  const { repositoryActorId: repository, branch, totalCommits } = push;
  const count = `${totalCommits} ${totalCommits === 1 ? 'commit' : 'commits'}`;
  return {
    ...headOf(push),
    summary: `<p>${escapeHtml(push.pusherName)} pushed ${count} to ${linkTo(push)} (${escapeHtml(branch)})</p>`,
    target: {
      id: `${repository}/branches/${encodeURIComponent(branch)}`,
      type: 'Branch',
      context: repository,
      name: branch,
      ref: `refs/heads/${branch}`,
    },
    hashBefore: push.hashBefore,
    hashAfter: push.hashAfter,
    ...(push.isForced ? { forced: true } : {}),
    object: {
      type: 'OrderedCollection',
      totalItems: totalCommits,
      orderedItems: push.commits.map((commit) => commitContent(push, commit)),
    },
  };
}

/** A Push that stands for the branches of a push that have none of their own; readers show the name of its target. */
export function restContent(push: PushPlace & { left: number }): Json {
  const rest = `${push.left} more branches`;
  return {
    ...headOf(push),
    summary: `<p>${escapeHtml(push.pusherName)} pushed to ${rest} of ${linkTo(push)}</p>`,
    target: { id: push.repositoryActorId, type: 'Repository', name: rest },
    object: { type: 'OrderedCollection', totalItems: 0, orderedItems: [] },
  };
}

const headOf = ({ repositoryActorId: repository, pusherActorId, pushedAt }: PushPlace): Json => ({
  '@context': pushContext,
  attributedTo: pusherActorId,
  to: [publicAudience],
  cc: [`${repository}/followers`],
  // In milliseconds: readers sort by it.
  published: new Date(pushedAt).toISOString(),
  context: repository,
});

const linkTo = ({ repositoryUrl, repositoryName }: PushPlace): string =>
  `<a href="${escapeHtml(repositoryUrl)}">${escapeHtml(repositoryName)}</a>`;

function commitContent({ repositoryActorId, repositoryUrl }: BranchPush, commit: NewCommit): Json {
  const { hash, subject, authorName, authorActorId, authoredAt, committedAt } = commit;
  return {
    id: `${repositoryActorId}/commits/${hash}`,
    type: 'Commit',
    context: repositoryActorId,
    hash,
    summary: escapeHtml(cleanText(subject, maxSummary)),
    created: isoTime(authoredAt),
    committed: isoTime(committedAt),
    attributedTo: authorActorId ?? { type: 'Person', name: cleanText(authorName, 200) },
    url: `${repositoryUrl}/commit/${hash}`,
  };
}

/** A push to a followed repository: stored for the pages of its followers, dropped when it has none here (SPEC §6). */
export const receivePush: ActivityHandler<null> = {
  needsId: true,
  async prepare(deps, { document, signer }) {
    if (!isElsewhereNow(document['object'], signer)) return null;
    const isFollowed = await deps.db.read.existsBy(remoteFollowSchema, {
      remoteActorId: signer.id,
      kind: 'repository',
    });
    if (isFollowed) await deps.remoteActors.actorAgain(signer.id).catch(ignoreRefusal);
    return null;
  },
  async apply(deps, tx, { id, document, signer }) {
    const commits = pushedCommits(document['object'], signer);
    const published = Date.parse(cleanText(document['published'], 64));
    // One statement: the round trip to the write thread costs more than the statement.
    await tx.manager.query(
      `INSERT INTO received_pushes (id, actor_id, activity_id, branch, hash_before, hash_after, commit_count, commits, is_forced, pusher, pushed_at, received_at)
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM remote_follows WHERE remote_actor_id = ? AND kind = 'repository')`,
      [
        deps.random.uuid(),
        signer.id,
        id,
        branchOf(document['target']),
        objectId(document['hashBefore']),
        objectId(document['hashAfter']),
        Math.max(commits.length, totalOf(document['object'])),
        JSON.stringify(commits),
        document['forced'] === true ? 1 : 0,
        pusherOf(document['attributedTo'], signer),
        // Clamped: a date in the future must not put a push ahead of all others.
        Number.isFinite(published) ? Math.min(Math.max(published, 0), tx.now) : tx.now,
        tx.now,
        signer.id,
      ],
    );
  },
};

/** Commit URLs are below the page of their repository: when these are not, it was renamed. */
function isElsewhereNow(object: unknown, { url, host }: RemoteActor): boolean {
  const [first] = itemsOf(object);
  const address = webUrl(asObject(first)['url']);
  return url !== null && address !== null && address.host === host && !address.href.startsWith(`${url}/`);
}

/** The push is stored even when the repository's new name cannot be fetched. */
function ignoreRefusal(error: unknown): void {
  if (!isDomainError(error)) throw error;
}

/** The person's name on their server: the end of the actor's id, with its host when that is another one. */
function pusherOf(attributedTo: unknown, { host, id }: RemoteActor): string | null {
  const actor = URL.parse(idOf(attributedTo) ?? '');
  if (actor === null || actor.href === id) return null;
  const name = cleanText(decodeOr(actor.pathname.split('/').at(-1) ?? ''), 100);
  // A server that names none pushes by itself.
  if (name === '' || name === 'instance') return null;
  return actor.host === host ? name : `${name}@${actor.host}`;
}

function pushedCommits(object: unknown, signer: RemoteActor): PushedCommit[] {
  const items = itemsOf(Array.isArray(object) && object.length === 1 ? object[0] : object);
  const all = items.length === 0 && Array.isArray(object) ? object : items;
  return all.slice(0, maxPushedCommits).flatMap((item) => {
    const { hash, summary, name, url } = asObject(item);
    const page = webUrl(url);
    const id = objectId(hash) ?? objectId(idOf(item)?.split('/').at(-1));
    return id === null
      ? []
      : [
          {
            hash: id,
            summary: plainSummary(cleanText(summary ?? name, 4 * maxSummary)).slice(0, maxSummary),
            url: page?.host === signer.host ? page.href : null,
          },
        ];
  });
}

/** `summary` is HTML; Hearth sends escaped text, and this restores it. Pages show it as text in any case. */
function plainSummary(text: string): string {
  return unescapeHtml(text.replace(/<[^<>]{0,200}>/g, '')).replace(/\s+/g, ' ');
}

function totalOf(object: unknown): number {
  const total = embedded(object)['totalItems'];
  return typeof total === 'number' && Number.isSafeInteger(total) && total > 0 ? Math.min(total, 1_000_000_000) : 0;
}

function branchOf(target: unknown): string {
  const { ref: fullName, name } = embedded(target);
  const ref = cleanText(fullName, 255) || cleanText(name, 255);
  const afterBranches = idOf(target)?.split('/branches/')[1];
  return ref.replace(/^refs\/heads\//, '') || cleanText(decodeOr(afterBranches ?? ''), 255);
}

function decodeOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
