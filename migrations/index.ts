import type { Migration } from '../src/db/index.ts';
import { integrityChecks } from './v211-integrity-checks.ts';
import { skippedChecks } from './v209-skipped-checks.ts';
import { importGroupLines } from './v413-import-group-lines.ts';
import { importGroups } from './v395-import-groups.ts';
import { followedAccounts } from './v411-followed-accounts.ts';
import { organisationWebsites } from './v412-organisation-websites.ts';
import { nodes } from './v400-nodes.ts';
import { repositoryMoves } from './v410-repository-moves.ts';
import { importFiles } from './v420-import-files.ts';
import { artifactParts } from './v424-artifact-parts.ts';
import { instanceMarks } from './v425-instance-marks.ts';
import { scheduleZones } from './v422-schedule-zones.ts';
import { recoveryDrills } from './v426-recovery-drills.ts';
import { receivedEvents } from './v428-received-events.ts';
import { latestReleases } from './v429-latest-releases.ts';
import { sharedState } from './v430-shared-state.ts';
import { ciParts } from './v431-ci-parts.ts';
import { boards } from './v418-boards.ts';
import { signUpRequests } from './v419-sign-up-requests.ts';
import { nodeFacts } from './v432-node-facts.ts';
import { imports } from './v230-imports.ts';
import { claimedReactions } from './v231-claimed-reactions.ts';
import { endsOfTheServer } from './v207-ends-of-the-server.ts';
import { ciFiles } from './v205-ci-files.ts';
import { annotations } from './v138-annotations.ts';
import { packages } from './v250-packages.ts';
import { userLanguages } from './v320-user-languages.ts';
import { oauth } from './v280-oauth.ts';
import { storedRepositories } from './v300-stored-repositories.ts';
import { openFollowers } from './v310-open-followers.ts';
import { activityOfFollows } from './v311-activity-of-follows.ts';
import { signatureSchemes } from './v312-signature-schemes.ts';
import { packageLists } from './v330-package-lists.ts';
import { packageObjects } from './v360-package-objects.ts';
import { packageRetention } from './v361-package-retention.ts';
import { approvers } from './v437-approvers.ts';
import { packageBlobSources } from './v443-package-blob-sources.ts';
import { importedTimes } from './v444-imported-times.ts';
import { sharedKeys } from './v445-shared-keys.ts';
import { reloadsOfNodes } from './v446-reloads-of-nodes.ts';
import { leasesSince } from './v447-leases-since.ts';
import { ownReactions } from './v448-own-reactions.ts';
import { ownerWebhooks } from './v414-owner-webhooks.ts';
import { keptCopies } from './v370-kept-copies.ts';
import { noteChoices } from './v396-note-choices.ts';
import { emptyPackages } from './v251-empty-packages.ts';
import { peersThatReadNotes } from './v210-peers-that-read-notes.ts';
import { namesThatComeBack } from './v220-names-that-come-back.ts';
import { publicMembers } from './v221-public-members.ts';
import { timeOfIssues } from './v222-time-of-issues.ts';
import { statusReports } from './v223-status-reports.ts';
import { ownerUsage } from './v325-owner-usage.ts';
import { ownerNumbers } from './v224-owner-numbers.ts';
import { people } from './v01-people.ts';
import { federation } from './v02-federation.ts';
import { repositories } from './v03-repositories.ts';
import { follows } from './v09-follows.ts';
import { repositoryImage } from './v13-repository-image.ts';
import { organisations } from './v14-organisations.ts';
import { repositoryLife } from './v15-repository-lifecycle.ts';
import { avatars } from './v16-avatars.ts';
import { followedPeople } from './v19-followed-people-and-peers.ts';
import { runners } from './v20-runners.ts';
import { runs } from './v21-runs.ts';
import { secrets } from './v22-secrets.ts';
import { commitStatuses } from './v23-commit-statuses.ts';
import { artifactsAndSchedules } from './v24-ci-maintenance.ts';
import { artifactFiles } from './v25-artifact-files.ts';
import { search } from './v30-search.ts';
import { audit } from './v40-audit.ts';
import { undo } from './v50-overwritten-tips.ts';
import { webhooks } from './v51-webhooks.ts';
import { mirrors } from './v52-mirrors.ts';
import { pushesByPerson } from './v54-pushes-by-person.ts';
import { languages } from './v56-languages.ts';
import { searchNGrams } from './v57-search-n-grams.ts';
import { migrationTimes } from './v58-migration-times-and-single-use-tokens.ts';
import { parkedPushes } from './v60-parked-pushes.ts';
import { countersAndListIndexes } from './v62-counters-and-list-indexes.ts';
import { gerritRefs } from './v64-gerrit-refs.ts';
import { peersGone } from './v66-unreachable-peers-and-origins.ts';
import { registeredLabels } from './v68-registered-labels.ts';
import { sshMirrors } from './v70-ssh-mirrors.ts';
import { trigrams } from './v72-trigrams.ts';
import { openDeliveries } from './v73-open-deliveries.ts';
import { outbox } from './v74-outbox.ts';
import { issues } from './v76-issues.ts';
import { issueSearch } from './v82-issue-search.ts';
import { issueSerials } from './v84-issue-serials.ts';
import { pushCredentials } from './v86-push-credentials.ts';
import { attachmentUses } from './v88-attachment-uses.ts';
import { forks } from './v102-forks.ts';
import { commitCounts } from './v104-commit-counts.ts';
import { secondFactors } from './v108-second-factors.ts';
import { storages } from './v90-storages.ts';
import { emailAddresses } from './v92-email-addresses.ts';
import { signingKeys } from './v94-signing-keys.ts';
import { notifications } from './v96-notifications.ts';
import { notices } from './v98-notices.ts';
import { branchRules } from './v100-branch-rules.ts';
import { pullRequests } from './v106-pull-requests.ts';
import { personIdentities } from './v110-person-identities.ts';
import { runApproval } from './v112-run-approval.ts';
import { trustedOnlyRunners } from './v114-trusted-only-runners.ts';
import { mergedPulls } from './v116-merged-pulls.ts';
import { lfsObjects } from './v120-lfs-objects.ts';
import { lfsLocks } from './v122-lfs-locks.ts';
import { releases } from './v124-releases.ts';
import { templateRepositories } from './v128-template-repositories.ts';
import { mergeQueue } from './v130-merge-queue.ts';
import { teams } from './v134-teams.ts';
import { ciRepositorySettings } from './v142-ci-settings.ts';
import { ciIdentityKeys } from './v144-ci-identity-keys.ts';
import { runnerLabels } from './v146-runner-labels.ts';
import { artifactRetention } from './v148-artifact-retention.ts';
import { pushWays } from './v150-push-ways.ts';
import { contributedRounds } from './v152-contributed-rounds.ts';
import { importedReleases } from './v154-imported-releases.ts';
import { stacks } from './v156-stacks.ts';
import { deployKeys } from './v160-deploy-keys.ts';
import { namesInPulls } from './v161-names-in-pulls.ts';
import { ciCallMatrices } from './v164-ci-call-matrices.ts';
import { followFacts } from './v187-follow-facts.ts';
import { limitedSecrets } from './v188-limited-secrets.ts';
import { subscriptionStarts } from './v195-subscription-starts.ts';
import { movesOfPushes } from './v203-moves-of-pushes.ts';
import { webhookKinds } from './v204-webhook-kinds.ts';
import { starsTopicsFollows } from './v206-stars-topics-follows.ts';
import { runsOfDeployKeys } from './v178-runs-of-deploy-keys.ts';
import { environments } from './v350-environments.ts';
import { teamReviewRequests } from './v177-team-review-requests.ts';
import { unknownMergeStates } from './v174-unknown-merge-states.ts';
import { savedReplies } from './v272-saved-replies.ts';
import { repositoryWebsites } from './v271-repository-websites.ts';
import { accessNews } from './v270-access-news.ts';
import { maintenanceOfStoredRepositories } from './v385-maintenance-of-stored-repositories.ts';

/** Every migration, in order. SPEC §9 fixes the numbers 2, 9 and 19 (federation), 13 and 14; the others are ours. */
export const migrations: readonly Migration[] = [
  people,
  federation,
  repositories,
  follows,
  repositoryImage,
  organisations,
  repositoryLife,
  avatars,
  followedPeople,
  runners,
  runs,
  secrets,
  commitStatuses,
  artifactsAndSchedules,
  artifactFiles,
  search,
  audit,
  undo,
  webhooks,
  mirrors,
  pushesByPerson,
  languages,
  searchNGrams,
  migrationTimes,
  parkedPushes,
  countersAndListIndexes,
  gerritRefs,
  peersGone,
  registeredLabels,
  sshMirrors,
  trigrams,
  openDeliveries,
  outbox,
  issues,
  issueSearch,
  issueSerials,
  pushCredentials,
  attachmentUses,
  storages,
  emailAddresses,
  signingKeys,
  notifications,
  notices,
  branchRules,
  forks,
  commitCounts,
  pullRequests,
  secondFactors,
  personIdentities,
  runApproval,
  trustedOnlyRunners,
  mergedPulls,
  lfsObjects,
  lfsLocks,
  releases,
  templateRepositories,
  mergeQueue,
  teams,
  annotations,
  ciRepositorySettings,
  ciIdentityKeys,
  runnerLabels,
  artifactRetention,
  pushWays,
  contributedRounds,
  importedReleases,
  stacks,
  deployKeys,
  namesInPulls,
  ciCallMatrices,
  unknownMergeStates,
  teamReviewRequests,
  runsOfDeployKeys,
  followFacts,
  limitedSecrets,
  subscriptionStarts,
  movesOfPushes,
  webhookKinds,
  ciFiles,
  starsTopicsFollows,
  endsOfTheServer,
  skippedChecks,
  peersThatReadNotes,
  integrityChecks,
  namesThatComeBack,
  publicMembers,
  timeOfIssues,
  statusReports,
  ownerNumbers,
  imports,
  claimedReactions,
  packages,
  emptyPackages,
  accessNews,
  repositoryWebsites,
  savedReplies,
  oauth,
  storedRepositories,
  openFollowers,
  activityOfFollows,
  signatureSchemes,
  userLanguages,
  ownerUsage,
  packageLists,
  environments,
  packageObjects,
  packageRetention,
  keptCopies,
  maintenanceOfStoredRepositories,
  importGroups,
  noteChoices,
  nodes,
  repositoryMoves,
  followedAccounts,
  organisationWebsites,
  importGroupLines,
  ownerWebhooks,
  boards,
  signUpRequests,
  importFiles,
  scheduleZones,
  artifactParts,
  instanceMarks,
  recoveryDrills,
  receivedEvents,
  latestReleases,
  sharedState,
  ciParts,
  nodeFacts,
  approvers,
  packageBlobSources,
  importedTimes,
  sharedKeys,
  reloadsOfNodes,
  leasesSince,
  ownReactions,
];
