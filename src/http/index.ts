export { attachmentDisposition } from './attachment-disposition.ts';
export { createAdmission } from './admission/admission.ts';
export type { Admission } from './admission/admission.ts';
export type { BackgroundPriority } from './background-priority.ts';
export type { CostClass } from './admission/request-classes.ts';
export { createAssets } from './assets.ts';
export type { AssetEncoding, Assets } from './assets.ts';
export { anonymousIdentity } from './context.ts';
export type { Context, Exchange, Identity, Middleware, State } from './context.ts';
export { createHttpMetrics } from './http-metrics.ts';
export type { HttpMetrics } from './http-metrics.ts';
export { compressText } from './middleware/compression.ts';
export { acceptHost } from './middleware/host.ts';
export { createRequestLog } from './middleware/request-log.ts';
export { diagramPolicy, policyWithFrames, policyWithObjects, securityHeaders } from './middleware/security-headers.ts';
export { createOneTimeSecrets } from './one-time-secrets.ts';
export type { OneTimeSecrets } from './one-time-secrets.ts';
export { createPendingForms } from './pending-forms.ts';
export type { PendingForms } from './pending-forms.ts';
export { formatMetrics, histogramSamples } from './prometheus-text.ts';
export type { MetricFamily, Sample } from './prometheus-text.ts';
export { createProbe } from './probe.ts';
export type { Probe } from './probe.ts';
export { readAuthorization, readToken, secretsOf } from './request/authorization.ts';
export { createClientReader } from './request/client-address.ts';
export type { Client } from './request/client-address.ts';
export { openBody, chunksOf, readBytes } from './request/body.ts';
export { discardBody, drainRequest } from './request/drain.ts';
export { writeCookie } from './request/cookies.ts';
export type { NewCookie } from './request/cookies.ts';
export { externalOrigin } from './request/external-origin.ts';
export { createForm, emptyForm } from './request/form.ts';
export type { Form } from './request/form.ts';
export { countHostHeaders } from './request/host-header.ts';
export { createTrustedPeers } from './request/client-address.ts';
export { createHostTrust } from './request/trusted-hosts.ts';
export {
  cloneTransports,
  shortcutSettings,
  oneOf,
  preferenceCookies,
  readPreferences,
  themes,
} from './request/preferences.ts';
export type { Preferences } from './request/preferences.ts';
export { readMultipart } from './request/multipart.ts';
export type { ReceivedPart } from './request/multipart.ts';
export { parseRange } from './request/range.ts';
export type { Range } from './request/range.ts';
export { runPathNumber, queryNumber } from './request/number-parameters.ts';
export { returnTarget } from './request/return-target.ts';
export { longestQuery, readSearchQuery } from './request/search-query.ts';
export { challengeCookie, endedChallengeCookie, readChallengeCookie } from './request/challenge-cookie.ts';
export { endedProviderCookie, providerCookie, readProviderCookie } from './request/provider-cookie.ts';
export { endedSessionCookie, readSessionCookie, sessionCookie } from './request/session-cookie.ts';
export { viewCloneBox } from './response/clone-urls.ts';
export type { CloneBoxView, SshFacts } from './response/clone-urls.ts';
export { HttpError } from './http-error.ts';
export { setBody } from './response/set-body.ts';
export { httpStatusByErrorCode, httpStatusOf, retryAfter } from './response/error-status.ts';
export { organisationUrl, ownerUrl, personUrl, repositoryImageUrl, repositoryUrl, teamUrl } from './response/urls.ts';
export { routeRunnerRequests } from './route-runner-requests.ts';
export type { RunnerListener } from './route-runner-requests.ts';
export { createHttpServer } from './server.ts';
export type { WebServer } from './server.ts';
