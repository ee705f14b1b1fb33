import type { Operation } from '../operation.ts';
import { artifactOperations } from './actions-artifacts.ts';
import { adminOperations } from './admin.ts';
import { actionOperations } from './actions-runs.ts';
import { runTimingOperations } from './run-timings.ts';
import { actionWorkflowOperations } from './actions-workflows.ts';
import { ownerRunOperations } from './owner-runs.ts';
import { checkRunOperations } from './check-runs.ts';
import { listActivity, listLostTips, restoreLostTip } from './activity.ts';
import { activityFeedOperations } from './activity-feeds.ts';
import { actionSettingOperations } from './actions-settings.ts';
import { deployKeyOperations } from './deploy-keys.ts';
import { deploymentOperations } from './deployments.ts';
import { environmentOperations } from './environments.ts';
import { allBoardOperations } from './boards.ts';
import { branchRuleOperations } from './branch-rules.ts';
import { ciSettingsOperations } from './ci-settings.ts';
import { addCollaborator, changeCollaborator, listCollaborators, removeCollaborator } from './collaborators.ts';
import { branchOperations } from './branches.ts';
import { fileContentOperations } from './file-contents.ts';
import { manyContentsOperations } from './many-contents.ts';
import { getCommit, getGitCommit, listCommits } from './commits.ts';
import { commitPatchOperations } from './commit-patches.ts';
import { getArchiveLinks, getRawFile, getTree, listTags, rawOperations } from './trees-and-archives.ts';
import { gitDataOperations } from './git-data.ts';
import {
  addIssueComment,
  deleteComment,
  editComment,
  getComment,
  listCommentRevisions,
  listIssueComments,
  listIssueRevisions,
  listRepositoryComments,
} from './issues-comments.ts';
import { issueLabelOperations, labelOperations } from './issues-labels.ts';
import { linkOperations } from './issues-links.ts';
import { issueTimeOperations } from './issues-time.ts';
import { addMilestone, deleteMilestone, editMilestone, getMilestone, listMilestones } from './issues-milestones.ts';
import {
  blockOperations,
  editIssueSettings,
  getIssueSettings,
  heldOperations,
  hideComment,
  listHeld,
  showComment,
  trashOperations,
} from './issues-moderation.ts';
import { reactionOperations, subscriptionOperations } from './issues-participation.ts';
import { getIssueConfig, listIssueTemplates } from './issues-templates.ts';
import { listTimeline } from './issues-timeline.ts';
import {
  deleteIssue,
  editIssue,
  getIssue,
  listIssues,
  listPinnedIssues,
  moveIssue,
  openIssue,
  searchIssues,
  setDeadline,
} from './issues.ts';
import { aliasOperations, pinnedPullOperations } from './gitea-aliases.ts';
import { pictureOperations } from './pictures.ts';
import { importOperations } from './imports.ts';
import { pushMirrorOperations } from './push-mirrors.ts';
import { hookOperations } from './hooks.ts';
import { followOperations } from './follows.ts';
import { followerOperations } from './followers.ts';
import { copyOperations } from './copies.ts';
import { createFork, listForks, mergeUpstream } from './forks.ts';
import { getPullConflicts, getPullDiff, getPullPatch, listPullCommits, listPullFiles } from './pulls-changes.ts';
import {
  cancelPullMerge,
  getPullMerged,
  getPullRound,
  listPullRounds,
  mergePull,
  updatePullBranch,
} from './pulls-merge.ts';
import { addPullToQueue, getPullInQueue, listPullQueue, putPullFirst, removePullFromQueue } from './pulls-queue.ts';
import { getPullStack } from './pulls-stack.ts';
import {
  createPullReview,
  deletePullReview,
  dismissPullReview,
  getPullReview,
  listPullReviewComments,
  listPullReviews,
  listReviewers,
  requestPullReviews,
  submitPullReview,
  undismissPullReview,
  withdrawPullReviews,
} from './pulls-reviews.ts';
import { pullCommentOperations } from './pulls-comments.ts';
import { pullThreadOperations } from './pulls-threads.ts';
import { openPullFromPatch } from './pulls-patch.ts';
import { editPull, getPull, getPullByBranches, getPullOfCommit, listPulls, openPull } from './pulls.ts';
import { getImage, removeImage, replaceImage } from './images.ts';
import { issueMarks } from './issues-marks.ts';
import { issueAssigneeOperations } from './issues-assignees.ts';
import { issueAssetOperations } from './issue-assets.ts';
import { addEmails, allEmailOperations, listEmails, removeEmails } from './emails.ts';
import { listLinkedAccounts } from './linked-accounts.ts';
import { addGpgKey, getGpgKey, listGpgKeys, listGpgKeysOfUser, removeGpgKey } from './gpg-keys.ts';
import { addKey, getKey, listKeys, listKeysOfUser, removeKey } from './keys.ts';
import {
  addMember,
  changeMember,
  createOrganisation,
  deleteOrganisation,
  editOrganisation,
  getOrganisation,
  listMembers,
  listOrganisations,
  removeMember,
} from './organisations.ts';
import { teamOperations } from './teams.ts';
import { notificationOperations } from './notifications.ts';
import { starTopicAndFollowOperations } from './stars-and-topics.ts';
import { listPins, movePin, pinRepository, unpinRepository } from './pins.ts';
import {
  createRepository,
  deleteRepository,
  generateRepository,
  editRepository,
  getRepository,
  listRepositories,
  renameRepository,
} from './repositories.ts';
import { newRepositoryOperations } from './new-repositories.ts';
import { repositoryListOperations } from './repository-lists.ts';
import { labelTemplateOperations } from './label-templates.ts';
import { miscellaneousOperations } from './public-settings.ts';
import { repositoryActOperations } from './repository-acts.ts';
import { repositoryPeopleOperations } from './repository-people.ts';
import { releaseOperations } from './releases.ts';
import { tagOperations } from './tags.ts';
import { runnerOperations } from './runners.ts';
import {
  approveRun,
  cancelRun,
  dispatchEvent,
  getJob,
  getJobLog,
  getRun,
  listRuns,
  listStartableWorkflows,
  rerunRun,
  startRun,
} from './runs.ts';
import { search } from './search.ts';
import { secretOperations } from './secrets.ts';
import { createCommitStatus, getCommitStatus, reportCommitStatus, statusListOperations } from './statuses.ts';
import { addToken, listTokens, removeToken } from './tokens.ts';
import { oauthApplicationOperations } from './oauth-applications.ts';
import { userTokenOperations } from './user-tokens.ts';
import { getHeatmap } from './heatmap.ts';
import { userListOperations } from './user-lists.ts';
import { editMe, getMe, getUser, listMyOrganisations } from './users.ts';
import { markupOperations } from './markup.ts';
import { mirrorOperations } from './mirrors.ts';
import { getVersion } from './version.ts';
import { watchingOperations } from './watching.ts';
import { webhooksOfOrganisations, webhooksOfRepositories } from './webhooks.ts';
import { packageRetentionOperations } from './package-retention.ts';
import { packageOperations } from './packages.ts';
import { wikiOperations } from './wikis.ts';

/** Every operation of the API, in the order of its document. */
export const operations: readonly Operation[] = [
  search,
  listRepositories,
  createRepository,
  // Must precede `/repos/{owner}/{name}`, which would also match.
  searchIssues,
  ...repositoryListOperations,
  ...newRepositoryOperations,
  ...importOperations,
  getRepository,
  editRepository,
  renameRepository,
  deleteRepository,
  generateRepository,
  ...repositoryActOperations,
  ...starTopicAndFollowOperations,
  ...branchRuleOperations,
  ...deployKeyOperations,
  listForks,
  createFork,
  mergeUpstream,
  ...branchOperations,
  listTags,
  ...tagOperations,
  listCommits,
  getCommit,
  ...commitPatchOperations,
  getGitCommit,
  getTree,
  getRawFile,
  ...rawOperations,
  getArchiveLinks,
  ...manyContentsOperations,
  ...fileContentOperations,
  ...gitDataOperations,
  listActivity,
  ...activityFeedOperations,
  listLostTips,
  restoreLostTip,
  ...mirrorOperations,
  ...pushMirrorOperations,
  ...webhooksOfRepositories,
  ...webhooksOfOrganisations,
  ...hookOperations,
  getCommitStatus,
  reportCommitStatus,
  createCommitStatus,
  ...statusListOperations,
  ...checkRunOperations,
  listCollaborators,
  addCollaborator,
  changeCollaborator,
  removeCollaborator,
  listIssues,
  openIssue,
  // Must precede `{number}`, which would also match.
  listPinnedIssues,
  listHeld,
  listRepositoryComments,
  getComment,
  editComment,
  deleteComment,
  listCommentRevisions,
  hideComment,
  showComment,
  getIssue,
  editIssue,
  deleteIssue,
  moveIssue,
  ...issueMarks,
  ...issueAssigneeOperations,
  setDeadline,
  listIssueComments,
  addIssueComment,
  listIssueRevisions,
  listTimeline,
  ...reactionOperations,
  ...issueLabelOperations,
  ...subscriptionOperations,
  ...linkOperations,
  ...issueTimeOperations,
  ...labelOperations,
  ...allBoardOperations,
  listMilestones,
  addMilestone,
  getMilestone,
  editMilestone,
  deleteMilestone,
  listIssueTemplates,
  getIssueConfig,
  getIssueSettings,
  editIssueSettings,
  ...heldOperations,
  ...trashOperations,
  ...blockOperations,
  listPulls,
  openPull,
  openPullFromPatch,
  ...pinnedPullOperations,
  // Must precede `{number}`, which would also match.
  getPullDiff,
  getPullPatch,
  listPullQueue,
  getPull,
  editPull,
  listPullCommits,
  listPullFiles,
  getPullConflicts,
  getPullMerged,
  mergePull,
  cancelPullMerge,
  getPullInQueue,
  addPullToQueue,
  removePullFromQueue,
  putPullFirst,
  updatePullBranch,
  getPullStack,
  listPullRounds,
  getPullRound,
  listPullReviews,
  createPullReview,
  getPullReview,
  submitPullReview,
  deletePullReview,
  listPullReviewComments,
  dismissPullReview,
  undismissPullReview,
  requestPullReviews,
  withdrawPullReviews,
  listReviewers,
  ...pullThreadOperations,
  ...pullCommentOperations,
  // Must follow the paths below `{number}`.
  getPullByBranches,
  getPullOfCommit,
  ...releaseOperations,
  ...packageOperations,
  ...packageRetentionOperations,
  getImage,
  replaceImage,
  removeImage,
  ...pictureOperations,
  ...aliasOperations,
  ...issueAssetOperations,
  listPins,
  pinRepository,
  unpinRepository,
  movePin,
  // Must precede `{id}` and `{username}`, which would also match.
  ...repositoryPeopleOperations,
  ...teamOperations,
  ...notificationOperations,
  ...watchingOperations,
  ...followOperations,
  ...followerOperations,
  ...copyOperations,
  getVersion,
  ...miscellaneousOperations,
  ...markupOperations,
  ...wikiOperations,
  ...labelTemplateOperations,
  getMe,
  editMe,
  listLinkedAccounts,
  listEmails,
  addEmails,
  removeEmails,
  // Must precede `{username}`, which would also match.
  ...userListOperations,
  getHeatmap,
  getUser,
  listMyOrganisations,
  ...adminOperations,
  ...allEmailOperations,
  listKeys,
  addKey,
  getKey,
  removeKey,
  listGpgKeys,
  addGpgKey,
  getGpgKey,
  removeGpgKey,
  listKeysOfUser,
  listGpgKeysOfUser,
  listTokens,
  addToken,
  removeToken,
  ...oauthApplicationOperations,
  ...userTokenOperations,
  listOrganisations,
  createOrganisation,
  getOrganisation,
  editOrganisation,
  deleteOrganisation,
  listMembers,
  addMember,
  changeMember,
  removeMember,
  ...artifactOperations,
  ...actionOperations,
  ...runTimingOperations,
  ...ownerRunOperations,
  ...actionWorkflowOperations,
  ...environmentOperations,
  ...deploymentOperations,
  listRuns,
  startRun,
  dispatchEvent,
  listStartableWorkflows,
  getRun,
  cancelRun,
  approveRun,
  rerunRun,
  getJob,
  getJobLog,
  ...ciSettingsOperations,
  ...runnerOperations,
  ...secretOperations,
  ...actionSettingOperations,
];
