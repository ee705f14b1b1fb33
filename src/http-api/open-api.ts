import { z } from 'zod';
import { yieldToEventLoop } from '../kernel/index.ts';
import { requiredAccess } from './authorize-call.ts';
import type { Operation, Tag } from './operation.ts';
import { error as errorSchema } from './v1/shapes/schemas.ts';

type Json = { [name: string]: unknown };

/** The part of an OpenAPI 3.1 document that this program reads again. */
export interface OpenApi extends Json {
  paths: Record<string, Record<string, OpenApiOperation>>;
}

export interface OpenApiOperation extends Json {
  operationId: string;
  tags: [Tag];
  summary: string;
  description?: string;
  parameters: OpenApiParameter[];
  security: Json[];
}

interface OpenApiParameter extends Json {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
}

const about = `The JSON API of this server. Calls carry an access token, "Authorization: Bearer hth_…", made under
Settings → Access tokens; without one they see what everyone sees. Cookies are not looked at.
A repository that is hidden from the caller answers like one that is not there.
Names of owners and repositories are found in any case. Texts are UTF-8, times ISO 8601 in UTC.`.replaceAll('\n', ' ');

const words: Record<number, string> = {
  200: 'Done',
  201: 'Made',
  202: 'Made, as Gitea responds to it',
  204: 'Done; there is nothing to say',
  304: 'Not changed since the ETag of If-None-Match',
  400: 'The request is not well-formed',
  401: 'The token is missing, expired, revoked or no token',
  403: 'The token may not do this (insufficient_scope), its owner has no handle yet (onboarding_required) or is no administrator (administrator_needed)',
  404: 'Absent, or hidden from the caller',
  409: 'The present state refuses this',
  412: 'The revision is not the one of If-Match',
  413: 'The body is too large',
  415: 'The body is of another type',
  422: 'The input is wrong',
  429: 'Too often, or too many wrong passwords; Retry-After says when to come again',
  500: 'The server made a mistake',
  503: 'The server is busy; Retry-After says when to come again',
};

/**
 * Generates the document from the operations and the schemas that check their input. Takes some hundred milliseconds,
 * with pauses for other work.
 */
export async function openApiOf(operations: readonly Operation[], version: string): Promise<OpenApi> {
  const schemas: Json = {};
  /** JSON Schema of a shape; named shapes go to the components, once. */
  const schemaOf = (shape: z.ZodType, io: 'input' | 'output'): Json => {
    const { $schema: _, $defs = {}, ...schema } = z.toJSONSchema(shape, { io }) as Json & { $defs?: Json };
    for (const [name, definition] of Object.entries($defs)) schemas[name] = toComponents(definition as Json);
    return toComponents(schema);
  };
  const error = { 'application/json': { schema: schemaOf(errorSchema, 'output') } };

  const paths: OpenApi['paths'] = {};
  for (const operation of operations) {
    await yieldToEventLoop();
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      ...(operation.description !== undefined && { description: operation.description }),
      security: requiredAccess(operation).needsToken ? [{ token: [] }] : [{}, { token: [] }],
      parameters: [...pathParameters(operation), ...queryParameters(operation, schemaOf), ...headers(operation)],
      ...(operation.body !== undefined && { requestBody: bodyOf(operation.body, schemaOf) }),
      responses: responsesOf(operation, schemaOf, error),
    };
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Hearth', version, description: about, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/api/v1' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A personal access token' } },
    },
  };
}

type SchemaOf = (shape: z.ZodType, io: 'input' | 'output') => Json;

const toComponents = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;

function pathParameters({ path }: Operation): OpenApiParameter[] {
  return [...path.matchAll(/\{([a-z]+)\}/gi)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Operation, schemaOf: SchemaOf): OpenApiParameter[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(typeof description === 'string' && { description }),
    schema,
  }));
}

const headers = ({ takesIfMatch }: Operation): OpenApiParameter[] =>
  takesIfMatch
    ? [
        {
          name: 'If-Match',
          in: 'header',
          required: false,
          description: 'The `revision` that the caller has seen; another one is refused with 412',
          schema: { type: 'string' },
        },
      ]
    : [];

function bodyOf(body: z.ZodType | 'image' | 'file' | 'text', schemaOf: SchemaOf): Json {
  if (body === 'file') {
    const schema = {
      type: 'object',
      required: ['attachment'],
      properties: { attachment: { type: 'string', format: 'binary' } },
    };
    return { required: true, content: { 'multipart/form-data': { schema } } };
  }
  if (body === 'text') return { required: true, content: { 'text/plain': { schema: { type: 'string' } } } };
  if (body !== 'image') return { required: true, content: { 'application/json': { schema: schemaOf(body, 'input') } } };
  const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
  return { required: true, content: Object.fromEntries(types.map((type) => [type, {}])) };
}

function responsesOf(operation: Operation, schemaOf: SchemaOf, error: Json): Json {
  const { response, status, body, path, method, isPaged, refuses = [] } = operation;
  const content =
    response === undefined
      ? {}
      : response === 'bytes'
        ? { content: { '*/*': {} } }
        : { content: { 'application/json': { schema: schemaOf(response, 'output') } } };
  const link = isPaged
    ? {
        headers: {
          Link: { description: 'The next page, rel="next"', schema: { type: 'string' } },
          'X-Total-Count': { description: 'Rows of all pages, where that is known', schema: { type: 'integer' } },
        },
      }
    : {};
  const refusals = new Set<number>([400, 401, 403, 429, 500, 503, ...refuses]);
  if (/\{(?:owner|commit)\}/.test(path)) refusals.add(404);
  if (path.includes('{owner}') && method !== 'GET') refusals.add(409);
  if (body !== undefined) refusals.add(413).add(415).add(422);
  if (operation.query !== undefined) refusals.add(422);
  if (operation.takesIfMatch) refusals.add(412);
  const responses: Json = { [status]: { description: words[status], ...content, ...link } };
  if (operation.alsoStatus !== undefined)
    responses[operation.alsoStatus] = { description: words[operation.alsoStatus] };
  if (method === 'GET' && response !== 'bytes') responses[304] = { description: words[304] };
  for (const refusal of [...refusals].sort()) responses[refusal] = { description: words[refusal], content: error };
  return responses;
}
