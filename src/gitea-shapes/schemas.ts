/**
 * The schemas of the shapes, for the API alone: they need the library that checks them, which a start does not load.
 * What this module makes has these types by inference.
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
