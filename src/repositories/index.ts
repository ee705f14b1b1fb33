import { branchRulePersonSchema, branchRuleSchema, branchRuleTeamSchema } from './schema/branch-rule-schema.ts';
import { collaboratorSchema } from './schema/collaborator-schema.ts';
import { commitCountSchema, countedCommitsSchema } from './schema/commit-count-schema.ts';
import { languageCountSchema, repositoryLanguageSchema } from './schema/language-schema.ts';
import { teamGrantSchema, teamRepositorySchema } from './schema/team-repository-schema.ts';
import { redirectSchema } from './schema/redirect-schema.ts';
import { moveSchema, transferSchema } from './schema/transfer-schema.ts';
import { pinSchema } from './schema/pin-schema.ts';
import { starCountSchema, starSchema } from './schema/star-schema.ts';
import { topicSchema } from './schema/topic-schema.ts';
import {
  pushAnnouncementSchema,
  pushListenerAttemptsSchema,
  pushSchema,
  pushUpdateSchema,
} from './schema/push-schema.ts';
import { unfinishedForkSchema } from './schema/unfinished-fork-schema.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import { commitStatusSchema } from './schema/commit-status-schema.ts';
import { statusReportSchema } from './schema/status-report-schema.ts';

export { repositorySettings } from './repository-settings.ts';
export { createRepositories } from './repositories.ts';
export type { Repositories } from './repositories.ts';
export type { ListedDeployKey } from './deploy-keys/deploy-key-service.ts';
export type { Collaborator, ExplainedAccess } from './collaborators/list-collaborators.ts';
export type { FileChange } from './contents/change-files.ts';
export type { FileOperation } from './contents/file-operation.ts';
export { parseFilePath } from './contents/file-path.ts';
export type { NewRepository } from './create-repository.ts';
export type { Found, Needed, RepositoryAddress } from './find-repository.ts';
export type { CopyPort, ForkListener } from './ports/fork-port.ts';
export type { LifecycleListener } from './ports/lifecycle-port.ts';
export type { ForkSummary } from './forks/fork-relations.ts';
export type { ForkDivergence } from './forks/sync-fork.ts';
export { sumLanguages } from './languages/language-statistics.ts';
export type { AttributesOf } from './languages/language-statistics.ts';
export { readAttributes } from './languages/read-attributes.ts';
export type { ListedRepository, ListOptions, RepositoryPage } from './list-repositories.ts';
export { footerTitle, homeTitle, isPageFile, sidebarTitle, titleOfFile } from './wiki/page-names.ts';
export { contentPages, pageCalled, pageNotFound } from './wiki/read-pages.ts';
export type { WikiPage } from './wiki/read-pages.ts';
export type { Wiki } from './wiki/wiki-repository.ts';
export { wikiPathOf, wikiSuffix } from './wiki/wiki-repository.ts';
export type { WikiListener, WikiPageChange } from './ports/wiki-port.ts';
export type { StarState } from './stars/stars.ts';
export type { Located } from './find-unchecked.ts';
export type { AnnouncedPush, PushListener } from './pushes/announce-push.ts';
export type { ActivityPush, ActivityUpdate } from './pushes/list-activity.ts';
export type { PreReceiveCheck } from './ports/pre-receive-port.ts';
export type { PushForReview, PushTarget, ReviewPort, ReviewVerdict } from './ports/review-port.ts';
export type { RetriedPush } from './pushes/unfinished-pushes.ts';
export type { LostTip } from './pushes/undo-push.ts';
export type { RecentPush } from './pushes/recent-pushes.ts';
export type { RefUpdate } from './pushes/push-journal.ts';
export type { TeamRepository } from './teams/team-repositories.ts';
export { isDiskLow } from './disk-space.ts';
export { repositoryById, repositoryOf, repositoryOfName } from './find-repository.ts';
export { isTrashed } from './lifecycle/trash.ts';
export type { RestoreListener } from './ports/restore-port.ts';
export { parseTagName } from './pushes/change-tags.ts';
export { parseBranchName } from './branch-name.ts';
export { parseRepositoryName } from './repository-name.ts';
export type { Repository } from './schema/repository-schema.ts';
export { isManyNames } from './rules/parse-rule.ts';
export type { DecidedNames, ListedRule } from './rules/list-rules.ts';
export { isUsualRule } from './rules/default-rule.ts';
export { checkRule } from './rules/edit-rules.ts';
export type { NewRule, RuleInput } from './rules/edit-rules.ts';
export { ruleStyles } from './rules/parse-merge-conditions.ts';
export type { ApproversInput, GrantInput, MergeConditionsInput } from './rules/parse-merge-conditions.ts';
export type { RepositorySettings } from './deps.ts';
export { commitKey } from './statuses/commit-statuses.ts';
export type { CombinedStatus } from './statuses/commit-statuses.ts';
export { gitignoreTemplates } from './initialisation/gitignore-templates.ts';
export { licenceTemplates, renderLicence } from './initialisation/licence-templates.ts';
export type { InitialisedRepository } from './initialisation/initialise-repository.ts';
export type { StatusListener, StatusWriteListener } from './statuses/status-service.ts';
export type { CommitState, CommitStatus } from './schema/commit-status-schema.ts';

export const repositoryEntities = [
  repositorySchema,
  unfinishedForkSchema,
  collaboratorSchema,
  redirectSchema,
  transferSchema,
  moveSchema,
  pinSchema,
  starSchema,
  starCountSchema,
  topicSchema,
  pushSchema,
  pushUpdateSchema,
  pushAnnouncementSchema,
  pushListenerAttemptsSchema,
  commitStatusSchema,
  statusReportSchema,
  repositoryLanguageSchema,
  languageCountSchema,
  commitCountSchema,
  countedCommitsSchema,
  branchRuleSchema,
  branchRulePersonSchema,
  branchRuleTeamSchema,
  teamRepositorySchema,
  teamGrantSchema,
];
