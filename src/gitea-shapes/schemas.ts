/**
 * The schemas of the shapes, only for the API: they need the validation library, which a start does not load. The types
 * of this module's results are inferred from them.
 */
export { attachment, closeReason, comment, hideReason, issue, issueState, label, milestone } from './issue-schema.ts';
export { deployment, deploymentStatus } from './deployment-schema.ts';
export { organisation } from './organisation-schema.ts';
export { giteaPackage, giteaPackageFile, packageTypes } from './package-schema.ts';
export { pullRequest } from './pull-schema.ts';
export { release, releaseFile } from './release-schema.ts';
export { giteaRepository } from './repository-schema.ts';
export { combinedStatus, commitStatus } from './status-schema.ts';
export { permission, team } from './team-schema.ts';
export { giteaUser } from './user-schema.ts';
