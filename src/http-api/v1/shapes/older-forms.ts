import type { z } from 'zod';
import type * as schemas from './schemas.ts';

/**
 * The responses from before a path got Gitea's form, for `Accept: application/vnd.hearth.v0+json`: only if a name has
 * two meanings.
 */

type Shown<Schema extends z.ZodType> = z.output<Schema>;

export function olderRepository(shown: Shown<typeof schemas.repository>): object {
  const { owner, parent, html_url: url } = shown;
  return {
    owner: owner.login,
    name: shown.name,
    visibility: shown.visibility,
    description: shown.description,
    defaultBranch: shown.defaultBranch,
    defaultBranchProtected: shown.defaultBranchProtected,
    acceptsGerritRefs: shown.acceptsGerritRefs,
    template: shown.template,
    archived: shown.archived,
    fork: shown.fork,
    parent: parent && {
      owner: parent.owner.login,
      name: parent.name,
      full_name: parent.full_name,
      html_url: parent.html_url,
    },
    forks_count: shown.forks_count,
    createdAt: shown.createdAt,
    updatedAt: shown.updatedAt,
    pushedAt: shown.pushedAt,
    imageUrl: shown.imageUrl,
    url,
    cloneUrl: shown.cloneUrl,
    sshUrl: shown.sshUrl,
  };
}

export const olderRepositories = (shown: readonly Shown<typeof schemas.repository>[]): object[] =>
  shown.map(olderRepository);

export function olderStatus(shown: Shown<typeof schemas.commitStatus>): object {
  const { context, state, description, targetUrl, creator, createdAt, updatedAt } = shown;
  return { context, state, description, targetUrl, creator: creator?.login ?? null, createdAt, updatedAt };
}

export const olderCombinedStatus = (shown: Shown<typeof schemas.combinedStatus>): object => ({
  commit: shown.commit,
  state: shown.state === '' ? null : shown.state,
  statuses: shown.statuses.map(olderStatus),
});

/** A key under its UUID. */
export const olderKey = <Key extends { uuid: string }>({ uuid, ...shown }: Key): object => ({ ...shown, id: uuid });

export const olderKeys = <Key extends { uuid: string }>(shown: readonly Key[]): object[] => shown.map(olderKey);
