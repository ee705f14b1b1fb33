import { webhookDeliverySchema, webhookMessageSchema, webhookSchema } from './webhook-schema.ts';

export { createWebhooks } from './webhooks.ts';
export type { WebhookOptions, Webhooks } from './webhooks.ts';
export { plainHttpRisk as plainHttpWebhookRisk } from './send-delivery.ts';
export type { WebhookDelivery } from './deliveries.ts';
export type { Webhook, WebhookInput } from './manage-webhooks.ts';
export { describePulls } from './describe-pulls.ts';
export type { DescribedPull } from './describe-pulls.ts';
export { pullPayload } from './pull-payloads.ts';
export type { PullPayload } from './pull-payloads.ts';
export { commentPayload, issuePath, issuePayload, labelPayload, milestonePayload } from './issue-payloads.ts';
export type { CommentPayload, IssuePayload, LabelPayload, MilestonePayload } from './issue-payloads.ts';
export { releaseFilePayload, releasePayload } from './release-payloads.ts';
export type { ReleaseFilePayload, ReleasePayload } from './release-payloads.ts';
export { numericId, repositoryPayload, teamPayload, userPayload } from './payloads.ts';
export type { RepositoryPayload, UserPayload } from './payloads.ts';
export type { WebhookScope } from './scope.ts';
export { webhookEvents } from './webhook-schema.ts';
export type { WebhookEvent } from './webhook-schema.ts';

export const webhookEntities = [webhookSchema, webhookMessageSchema, webhookDeliverySchema];
