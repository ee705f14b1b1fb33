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

/** Target and author of a push. */
export interface PushPlace {
  /** Actor ids: the repository, and the user who pushed or the instance. */
  repositoryActorId: string;
  pusherActorId: string;
  pusherName: string;
  /** `owner/name`, and the page URL of the repository. */
  repositoryName: string;
  repositoryUrl: string;
  pushedAt: number;
}

/** An update of a branch of a local repository. */
export interface BranchPush extends PushPlace {
  /** Without `refs/heads/`. */
  branch: string;
  hashBefore: string;
  hashAfter: string;
  /** Whether the old tip is not an ancestor of the new one. */
  isForced: boolean;
  /** Number of new commits, and details of the newest ones. */
  totalCommits: number;
  commits: readonly NewCommit[];
}

interface NewCommit {
  hash: string;
  subject: string;
  authorName: string;
  /** Actor of the user with the author's address as a verified one; otherwise null. */
  authorActorId: string | null;
  authoredAt: number;
  committedAt: number;
}

const maxSummary = 250;

/** A Push for one branch (ForgeFed), addressed to the public and the followers; it contains no e-mail address. */
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

/**
 * A Push that summarises the branches of a push that have no Push of their own; readers show the name of its target.
 */
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
  // With milliseconds: readers sort by it.
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

/**
 * A push to a followed repository: stored for the pages of its followers, dropped if it has no followers here (SPEC
 * §6).
 */
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
        // Clamped: a date in the future must not sort a push before all others.
        Number.isFinite(published) ? Math.min(Math.max(published, 0), tx.now) : tx.now,
        tx.now,
        signer.id,
      ],
    );
  },
};

/** Commit URLs are below the page of their repository; otherwise the repository was renamed. */
function isElsewhereNow(object: unknown, { url, host }: RemoteActor): boolean {
  const [first] = itemsOf(object);
  const address = webUrl(asObject(first)['url']);
  return url !== null && address !== null && address.host === host && !address.href.startsWith(`${url}/`);
}

/** Stores the push even if the repository's new name cannot be fetched. */
function ignoreRefusal(error: unknown): void {
  if (!isDomainError(error)) throw error;
}

/** The user's name on their server: the last segment of the actor id, with its host if that differs. */
function pusherOf(attributedTo: unknown, { host, id }: RemoteActor): string | null {
  const actor = URL.parse(idOf(attributedTo) ?? '');
  if (actor === null || actor.href === id) return null;
  const name = cleanText(decodeOr(actor.pathname.split('/').at(-1) ?? ''), 100);
  // A Push without an author was made by the server itself.
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

/** `summary` is HTML; this restores the text that Hearth sends escaped. Pages always show it as text. */
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
