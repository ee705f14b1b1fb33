export {
  accountViewer,
  anonymous,
  isLocalAdministrator,
  asInstanceAdministrator,
  localAdministrator,
  personIdOf,
  personViewer,
  viewerForLog,
} from './viewer.ts';
export type { DeployKeyViewer, PersonViewer, Scope, TaskViewer, Viewer } from './viewer.ts';
export { recordCredential, viewerWithCredential } from './recorded-credential.ts';
export type { RecordedCredential } from './recorded-credential.ts';
export { allows } from './level.ts';
export type { Level } from './level.ts';
export { collaboratorRoles, organisationRoles } from './repository-facts.ts';
export type { CollaboratorRole, OrganisationRole, RepositoryFacts, Visibility } from './repository-facts.ts';
export { ownsRepository, repositoryLevel, scopeAllows } from './repository-level.ts';
export { describeAccessGrant, accessGrantsOf } from './access-grants.ts';
export type { AccessGrant } from './access-grants.ts';
export {
  grantedRepositoryParts,
  writableRepositoryParts,
  visibleRepositories,
  visibleRepositoryParts,
} from './visible-repositories.ts';
export type { SqlCondition } from './visible-repositories.ts';
export {
  isExemptFromRates,
  isTrustedContributor,
  refusalInRepository,
  refusalInTrash,
  refusalOnIssue,
} from './issue-rights.ts';
export type {
  EntryFacts,
  IssueAct,
  IssueRepositoryAct,
  IssueFacts,
  IssueRefusal,
  IssueRepositoryFacts,
} from './issue-rights.ts';
export { refusalOnBoard } from './board-rights.ts';
export type { BoardAct } from './board-rights.ts';
export { mayBecomePublic, maySync, refusalToFork, visibilityOfFork } from './fork-rights.ts';
export type { ForkOwnerFacts, ForkRefusal } from './fork-rights.ts';
export { isContributedUpload, refusalOnLfs } from './lfs-rights.ts';
export type { LfsAct, LfsRefusal, LfsRepositoryFacts } from './lfs-rights.ts';
export { visibleIssues } from './visible-issues.ts';
export {
  RuleSet,
  TooManyRefs,
  defaultBranchPattern,
  judgeRefMove,
  noMergeConditions,
  mayByGrant,
  mayByRule,
  namesOfGrant,
  teamNameOf,
  usernamesOf,
  ruleActs,
  ruleLevels,
} from './branch-rules.ts';
export type {
  ApprovalsSurvive,
  BranchRule,
  MergeConditions,
  NamedByRule,
  RefMoveKind,
  RuleAct,
  RuleGrant,
  RuleLevel,
  RuleTarget,
  RuleTeam,
} from './branch-rules.ts';
export {
  checksOfCandidate,
  countedApprovals,
  countingApprovals,
  isAbsolute,
  mergeVerdict,
  requestedChanges,
} from './merge-verdict.ts';
export type { MergeBlock, MergeFacts, MergeVerdict, OwnerGroup, ReviewFacts, RoundFacts } from './merge-verdict.ts';
export {
  allTaskPermissions,
  grantedToTask,
  lowerTaskPermissions,
  mayProveIdentity,
  taskPermissions,
  taskViewer,
} from './task-rights.ts';
export type {
  DefaultTaskPermissions,
  TaskCredential,
  TaskPermission,
  TaskPermissions,
  TaskUse,
} from './task-rights.ts';
export { authorAssociation } from './author-association.ts';
export type { AuthorAssociation } from './author-association.ts';
export { rightToDeploy } from './deployment-rights.ts';
export type { DeploymentRefusal } from './deployment-rights.ts';
export { trustInCode } from './ci-rights.ts';
export type { CiApproval, CodeFacts, CodeTrust } from './ci-rights.ts';
export { isTrustedWithCi, refusalOnPull } from './pull-rights.ts';
export type { PullAct, PullFacts } from './pull-rights.ts';
export { refusalOnPackage, refusalToAddPackage, visiblePackages } from './package-rights.ts';
export type { PackageAct, PackageFacts, PackageOwnerFacts, PackageRefusal } from './package-rights.ts';
export { refusalOnRelease } from './release-rights.ts';
export type { ReleaseAct, ReleaseRefusal, ReleaseRepositoryFacts } from './release-rights.ts';
export { refusalOnTeam, refusalOnTeamReview } from './team-rights.ts';
export type { TeamAct } from './team-rights.ts';
export { maxPatternLength, readRefPattern } from './ref-pattern.ts';
export type { PatternFault } from './ref-pattern.ts';
