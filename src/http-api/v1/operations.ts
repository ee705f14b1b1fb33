import type { Operation } from '../operation.ts';
import { artifactOperations } from './ci/actions-artifacts.ts';
import { adminOperations } from './server/admin.ts';
import { actionOperations } from './ci/actions-runs.ts';
import { runTimingOperations } from './ci/run-timings.ts';
import { actionWorkflowOperations } from './ci/actions-workflows.ts';
import { ownerRunOperations } from './ci/owner-runs.ts';
import { checkRunOperations } from './ci/check-runs.ts';
import { listActivity, listLostTips, restoreLostTip } from './users/activity.ts';
import { activityFeedOperations } from './users/activity-feeds.ts';
import { actionSettingOperations } from './ci/actions-settings.ts';
import { deployKeyOperations } from './repositories/deploy-keys.ts';
import { deploymentOperations } from './ci/deployments.ts';
import { environmentOperations } from './ci/environments.ts';
import { allBoardOperations } from './issues/boards.ts';
import { branchRuleOperations } from './code/branch-rules.ts';
import { ciSettingsOperations } from './ci/ci-settings.ts';
import {
  addCollaborator,
  changeCollaborator,
  listCollaborators,
  removeCollaborator,
} from './repositories/collaborators.ts';
import { branchOperations } from './code/branches.ts';
import { fileContentOperations } from './code/file-contents.ts';
import { manyContentsOperations } from './code/many-contents.ts';
import { getCommit, getGitCommit, listCommits } from './code/commits.ts';
import { commitPatchOperations } from './code/commit-patches.ts';
import { getArchiveLinks, getRawFile, getTree, listTags, rawOperations } from './code/trees-and-archives.ts';
import { gitDataOperations } from './code/git-data.ts';
import {
  addIssueComment,
  deleteComment,
  editComment,
  getComment,
  listCommentRevisions,
  listIssueComments,
  listIssueRevisions,
  listRepositoryComments,
} from './issues/comments.ts';
import { issueLabelOperations, labelOperations } from './issues/labels.ts';
import { linkOperations } from './issues/links.ts';
import { issueTimeOperations } from './issues/time.ts';
import { addMilestone, deleteMilestone, editMilestone, getMilestone, listMilestones } from './issues/milestones.ts';
import {
  blockOperations,
  editIssueSettings,
  getIssueSettings,
  heldOperations,
  hideComment,
  listHeld,
  showComment,
  trashOperations,
} from './issues/moderation.ts';
import { reactionOperations, subscriptionOperations } from './issues/participation.ts';
import { getIssueConfig, listIssueTemplates } from './issues/templates.ts';
import { listTimeline } from './issues/timeline.ts';
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
} from './issues/issues.ts';
import { aliasOperations, pinnedPullOperations } from './issues/gitea-aliases.ts';
import { pictureOperations } from './users/pictures.ts';
import { importOperations } from './repositories/imports.ts';
import { pushMirrorOperations } from './repositories/push-mirrors.ts';
import { hookOperations } from './webhooks/hooks.ts';
import { followOperations } from './users/follows.ts';
import { followerOperations } from './users/followers.ts';
import { copyOperations } from './repositories/copies.ts';
import { createFork, listForks, mergeUpstream } from './repositories/forks.ts';
import { getPullConflicts, getPullDiff, getPullPatch, listPullCommits, listPullFiles } from './pulls/changes.ts';
import {
  cancelPullMerge,
  getPullMerged,
  getPullRound,
  listPullRounds,
  mergePull,
  updatePullBranch,
} from './pulls/merge.ts';
import { addPullToQueue, getPullInQueue, listPullQueue, putPullFirst, removePullFromQueue } from './pulls/queue.ts';
import { getPullStack } from './pulls/stack.ts';
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
} from './pulls/reviews.ts';
import { pullCommentOperations } from './pulls/comments.ts';
import { pullThreadOperations } from './pulls/threads.ts';
import { openPullFromPatch } from './pulls/patch.ts';
import { editPull, getPull, getPullByBranches, getPullOfCommit, listPulls, openPull } from './pulls/pulls.ts';
import { getImage, removeImage, replaceImage } from './users/images.ts';
import { issueMarks } from './issues/marks.ts';
import { issueAssigneeOperations } from './issues/assignees.ts';
import { issueAssetOperations } from './issues/assets.ts';
import { addEmails, allEmailOperations, listEmails, removeEmails } from './users/emails.ts';
import { listLinkedAccounts } from './users/linked-accounts.ts';
import { addGpgKey, getGpgKey, listGpgKeys, listGpgKeysOfUser, removeGpgKey } from './users/gpg-keys.ts';
import { addKey, getKey, listKeys, listKeysOfUser, removeKey } from './users/keys.ts';
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
} from './organisations/organisations.ts';
import { teamOperations } from './organisations/teams.ts';
import { notificationOperations } from './users/notifications.ts';
import { starTopicAndFollowOperations } from './users/stars-and-topics.ts';
import { listPins, movePin, pinRepository, unpinRepository } from './repositories/pins.ts';
import {
  createRepository,
  deleteRepository,
  generateRepository,
  editRepository,
  getRepository,
  listRepositories,
  renameRepository,
} from './repositories/repositories.ts';
import { newRepositoryOperations } from './repositories/new-repositories.ts';
import { repositoryListOperations } from './repositories/repository-lists.ts';
import { labelTemplateOperations } from './issues/label-templates.ts';
import { miscellaneousOperations } from './server/public-settings.ts';
import { repositoryActOperations } from './repositories/repository-acts.ts';
import { repositoryPeopleOperations } from './repositories/repository-people.ts';
import { releaseOperations } from './code/releases.ts';
import { tagOperations } from './code/tags.ts';
import { runnerOperations } from './ci/runners.ts';
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
} from './ci/runs.ts';
import { search } from './server/search.ts';
import { secretOperations } from './ci/secrets.ts';
import { createCommitStatus, getCommitStatus, reportCommitStatus, statusListOperations } from './ci/statuses.ts';
import { addToken, listTokens, removeToken } from './users/tokens.ts';
import { oauthApplicationOperations } from './users/oauth-applications.ts';
import { userTokenOperations } from './users/user-tokens.ts';
import { getHeatmap } from './users/heatmap.ts';
import { userListOperations } from './users/user-lists.ts';
import { editMe, getMe, getUser, listMyOrganisations } from './users/users.ts';
import { markupOperations } from './code/markup.ts';
import { mirrorOperations } from './repositories/mirrors.ts';
import { getVersion } from './server/version.ts';
import { watchingOperations } from './users/watching.ts';
import { webhooksOfOrganisations, webhooksOfRepositories } from './webhooks/webhooks.ts';
import { packageRetentionOperations } from './repositories/package-retention.ts';
import { packageOperations } from './repositories/packages.ts';
import { wikiOperations } from './repositories/wikis.ts';

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
