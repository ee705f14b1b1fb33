import type { Accounts } from '../accounts/index.ts';
import { federationObstacles, missingForFederation } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import { bindDeps, notFound } from '../kernel/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import { createOutbound } from '../outbound/index.ts';
import type { OutboundOptions } from '../outbound/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import { pushListener } from './activities/publish-pushes.ts';
import { entryListener } from './activities/publish-entries.ts';
import { releaseListener } from './activities/publish-releases.ts';
import { createLocalActors } from './local-actors.ts';
import { createRemoteActors } from './actors/remote-actors.ts';
import { createDeliveryQueue } from './deliveries/delivery-queue.ts';
import * as deliveries from './deliveries/manage-deliveries.ts';
import { countFollowers, listFollowers } from './follows/list-followers.ts';
import { listKeys } from './actors/list-keys.ts';
import { rotateKeys } from './actors/rotate-keys.ts';
import { showActor } from './show-actor.ts';
import {
  endFollowFor,
  findFollow,
  followFor,
  listAllFollows,
  listFollows,
  retryFollowFor,
} from './follows/list-all-follows.ts';
import { checkFollowed } from './follows/check-followed.ts';
import { cloneSource } from './follows/clone-source.ts';
import { endAllFollows } from './follows/end-all-follows.ts';
import { endFollow, follow, scanAllPeople, scanDuePeople } from './follows/follows.ts';
import { retryFollow } from './follows/follow-repository.ts';
import { followedNews, followingOf } from './follows/following.ts';
import { localTarget } from './follows/local-target.ts';
import { activityFeed, activityIn } from './feed/activity-feed.ts';
import { findSubscribePage } from './subscribe/find-subscribe-page.ts';
import { recover, pruneFederation } from './housekeeping.ts';
import { receiveActivity } from './inbox/receive-activity.ts';
import { createGroupCommit } from './group-commit.ts';
import { createFederationMetrics } from './metrics.ts';
import type { FederationMetrics } from './metrics.ts';
import { isFederationOn } from './require-federation-on.ts';
import { acceptOrigin, originChange, originConsequences } from './origin.ts';
import { createAllowlist } from './peers/allowlist.ts';
import { createBlockList } from './block-list.ts';
import { addBlock, exportBlocks, importBlocks, listBlocks, removeBlock } from './blocks/manage-blocks.ts';
import { acceptFollower, removeFollower, setApproval } from './followers/approvals.ts';
import { listSubjectFollowers } from './followers/list-subject-followers.ts';
import { chooseNotes, noteChoicesOf } from './notes/note-choices.ts';
import { deleteNote, listNotes } from './notes/manage-notes.ts';
import { createOpenRule } from './open/open-rule.ts';
import { createUnlistedBudget } from './open/unlisted-budget.ts';
import { createUnlistedServers } from './open/create-unlisted-servers.ts';
import { createPeerSchemes } from './peer-schemes.ts';
import { countDeadHosts } from './deliveries/peer-health.ts';
import { listPeers } from './peers/list-peers.ts';
import { createSoftwareRecorder } from './peers/learn-software.ts';
import { createReachabilityRecorder } from './peers/mark-peer-reachable.ts';
import { acceptInvite, confirmPeer, hostOfCode, invitePeer, receivePairing, removePeer } from './peers/pairing.ts';
import { checkPeer } from './peers/check-peer.ts';
import { createPublicDocuments } from './public-documents.ts';
import type { FederationDeps, FederationSettings } from './deps.ts';

export interface FederationOptions {
  config: Config;
  db: Database;
  accounts: Accounts;
  owners: Owners;
  organisations: Organisations;
  repositories: Repositories;
  git: Git;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Replaces DNS and long timeouts in tests. */
  outbound?: Pick<OutboundOptions, 'resolve' | 'limits'>;
  settings?: Partial<FederationSettings>;
}

/**
 * Federation with other instances over ActivityPub (SPEC §2.5, §3, §4.6, §6). Decides here, once, whether it is
 * operational (SPEC §1); while it is not, nothing is sent and every request of other servers gets `not_found`.
 */
export function createFederation({
  config,
  outbound: changed,
  settings: changedSettings,
  ...tools
}: FederationOptions) {
  const settings: FederationSettings = { ...settingsOf(config), ...changedSettings };
  const blocks = createBlockList(tools);
  const wire = {
    devAllowInsecure: settings.devAllowInsecure,
    baseUrl: settings.origin || config.baseUrl,
    caFile: config.caFile,
    ...changed,
  };
  const outbound = createOutbound({ isAllowed: createAllowlist({ db: tools.db, settings, blocks }), ...wire });
  const localActors = createLocalActors({ db: tools.db, origin: settings.origin, now: () => tools.clock.now() });
  const measures = createFederationMetrics();
  const schemes = createPeerSchemes(tools);
  const open = { isAllowed: createOpenRule({ settings, blocks }), ...wire };
  const unlisted = settings.openFollowers
    ? createUnlistedServers({ ...tools, localActors, metrics: measures, schemes }, open)
    : null;
  const remoteActors = createRemoteActors({ ...tools, outbound, localActors, metrics: measures, schemes });
  const deps: FederationDeps = {
    ...tools,
    settings,
    outbound,
    localActors,
    remoteActors,
    blocks,
    unlisted,
    lookups: createUnlistedBudget(tools.clock),
    schemes,
    metrics: measures,
    groupCommit: createGroupCommit(tools.db),
    recordContact: createReachabilityRecorder(tools),
    learnSoftware: createSoftwareRecorder({ ...tools, outbound }),
  };
  const drain = createDeliveryQueue(deps);
  const publications = createPublicDocuments(deps);

  const bind = bindDeps(deps);
  /** For requests of other servers: refuses `not_found` unless federation is operational. */
  const whileOperational =
    <Rest extends unknown[], Result>(useCase: (deps: FederationDeps, ...rest: Rest) => Promise<Result>) =>
    async (...rest: Rest): Promise<Result> => {
      if (!isFederationOn(settings)) throw notFound();
      return useCase(deps, ...rest);
    };

  return {
    isOperational: isFederationOn(settings),
    /** For `repositories.pushes.onPush`; null while federation is not operational. */
    onPush: isFederationOn(settings) ? pushListener(deps) : null,
    /** For `releases.onEvent`; null while federation is not operational. */
    onRelease: isFederationOn(settings) ? releaseListener(deps) : null,
    /** For `issues.onEntry`; null while federation is not operational. */
    onEntry: isFederationOn(settings) ? entryListener(deps) : null,
    /** The kinds of events for which a repository publishes notes. */
    noteChoices: bind(noteChoicesOf),
    chooseNotes: bind(chooseNotes),
    listNotes: bind(listNotes),
    deleteNote: bind(deleteNote),
    /** Reasons why it is off, one sentence each. */
    obstacles: settings.obstacles,
    /** Stable names of these reasons. */
    reasons: missingForFederation(config.federation).map(({ reason }) => reason),
    origin: settings.origin,
    /** The difference between the configured origin and the one that other servers know. */
    originChange: bind(originChange),
    originConsequences: bind(originConsequences),
    /** Accepts the configured origin. */
    acceptOrigin: bind(acceptOrigin),
    /** The configured value, valid or not. */
    baseUrl: config.federation.baseUrl,

    publications,
    receive: whileOperational(receiveActivity),
    receivePairing: whileOperational((_deps, body: Buffer) => receivePairing(deps, body)),

    follow: bind(follow),
    /** The local subject that a text names; null for remote subjects. */
    localTarget: (text: string) => localTarget(deps, text, config.baseUrl),
    /** Actor id of a repository or user. */
    unfollow: bind(endFollow),
    retryFollow: bind(retryFollow),
    followingOf: bind(followingOf),
    followedNews: bind(followedNews),
    activityFeed: bind(activityFeed),
    activityIn: bind(activityIn),
    /** The page of a client's own server on which its user follows a subject of this one. */
    findSubscribePage: bind(findSubscribePage),
    /** The followed repository, for a copy of it. */
    cloneSource: bind(cloneSource),
    listFollows: bind(listFollows),
    findFollow: bind(findFollow),
    /** By an administrator on behalf of another user; recorded in the audit log. */
    followFor: bind(followFor),
    unfollowFor: bind(endFollowFor),
    retryFollowFor: bind(retryFollowFor),
    listAllFollows: bind(listAllFollows),
    /** For the write that deletes an account. */
    endAllFollows: bind(endAllFollows),
    listFollowers: bind(listFollowers),
    countFollowers: bind(countFollowers),
    /** Scans all followed users now. */
    resync: bind(scanAllPeople),

    listPeers: bind(listPeers),
    /** Unreachable servers that are retried later. */
    countDeadHosts: bind(countDeadHosts),
    measures: measures as Readonly<FederationMetrics>,
    checkPeer: bind(checkPeer),
    invitePeer: bind(invitePeer),
    hostOfCode: bind(hostOfCode),
    acceptInvite: bind(acceptInvite),
    confirmPeer: bind(confirmPeer),
    removePeer: bind(removePeer),
    addBlock: bind(addBlock),
    importBlocks: bind(importBlocks),
    removeBlock: bind(removeBlock),
    listBlocks: bind(listBlocks),
    exportBlocks: bind(exportBlocks),

    /** Whether users and organisations can be followed, and all subjects from unlisted servers. */
    openFollowers: settings.openFollowers,
    listSubjectFollowers: bind(listSubjectFollowers),
    setApproval: bind(setApproval),
    acceptFollower: bind(acceptFollower),
    removeFollower: bind(removeFollower),
    listKeys: bind(listKeys),
    rotateKeys: bind(rotateKeys),
    showActor: (text: string) => showActor(deps, publications, text),

    listDeliveries: bind(deliveries.listDeliveries),
    showDelivery: bind(deliveries.showDelivery),
    retryDelivery: bind(deliveries.retryDelivery),
    sendNow: bind(deliveries.sendNow),
    retryFailedDeliveries: bind(deliveries.retryFailedDeliveries),
    purgeDeliveries: bind(deliveries.purgeDeliveries),
    countSettled: bind(deliveries.countSettled),
    countDeliveries: bind(deliveries.countDeliveries),

    /** Sends due deliveries; for the scheduled task, every ten seconds. */
    drain: () => drain.drain(),
    /** Scans the followed users that are due; for the scheduled task. */
    scanDuePeople: bind(scanDuePeople),
    /** Checks whether followed repositories still exist; for the scheduled task. */
    checkFollowed: bind(checkFollowed),
    /** For the daily task. */
    removeOld: bind(pruneFederation),
    /** At start, before any listener opens; requires the instance lock. */
    recover: bind(recover),
    /** Aborts running deliveries, uncounted, and closes connections. */
    async stop(): Promise<void> {
      await drain.stop();
      outbound.close();
      unlisted?.close();
    },
  };
}

export type Federation = ReturnType<typeof createFederation>;

function settingsOf(config: Config): FederationSettings {
  const { federation, ssh } = config;
  const obstacles = federationObstacles(federation);
  const origin = obstacles.length === 0 ? new URL(federation.baseUrl!).origin : '';
  return {
    origin,
    obstacles,
    allowlist: federation.peerAllowlist,
    devAllowInsecure: federation.devAllowInsecure,
    openFollowers: obstacles.length === 0 && federation.openFollowers,
    openFollowersPerHost: federation.openFollowersPerHost,
    openFollowersTotal: federation.openFollowersTotal,
    maxAttempts: federation.maxAttempts,
    userResyncIntervalMs: federation.userResyncIntervalMs,
    slots: 64,
    slotsPerHost: 4,
    sshOrigin: origin === '' || !ssh.enabled ? null : sshOrigin(origin, ssh),
  };
}

/**
 * A port chosen by the operating system is unknown before the server listens; until then documents have only https
 * URLs.
 */
function sshOrigin(origin: string, { publicHost, publicPort, listen }: Config['ssh']): string | null {
  const port = publicPort ?? listen.port;
  const host = publicHost ?? new URL(origin).hostname;
  return port === 0 ? null : `ssh://git@${host}${port === 22 ? '' : `:${port}`}`;
}
