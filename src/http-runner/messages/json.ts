import type protobuf from 'protobufjs';
import { invalid } from '../../kernel/index.ts';
import { formatTimestamp, parseTimestamp } from './json-timestamp.ts';
import { structType, timestampType } from './message-types.ts';
import type { Timestamp } from './runner-messages.ts';

/**
 * The JSON form of protobuf (protobuf.dev, "ProtoJSON"), of which protobufjs has only a dialect: int64 as text, enums
 * by name, bytes in base64, timestamps in RFC 3339, Struct as a plain object.
 */
type Fields = Record<string, unknown>;

const malformed = (what: string) => invalid('malformed_message', what);

/**
 * Decodes a message from its JSON form. Field names may be spelled as in proto/ or in camel case; unknown fields are
 * ignored. An empty text is an empty message. Throws `malformed_message`.
 */
export function decodeJson<T>(type: protobuf.Type, text: string): T {
  let json: unknown;
  try {
    json = text === '' ? {} : JSON.parse(text);
  } catch {
    throw malformed('This is not JSON.');
  }
  return messageFromJson(type, json) as T;
}

export function encodeJson(type: protobuf.Type, value: object): string {
  return JSON.stringify(messageToJson(type, value as Fields));
}

/** The spelling in proto/; protobufjs keeps it only if it differs. */
function nameInProto(field: protobuf.Field): string {
  return field.protoName ?? field.name;
}

function messageFromJson(type: protobuf.Type, json: unknown): Fields {
  if (!isObject(json)) throw malformed(`${type.name} is a JSON object.`);
  const value: Fields = {};
  for (const field of type.fieldsArray) {
    const given = json[field.name] ?? json[nameInProto(field)] ?? null;
    if (field.map) value[field.name] = mapFromJson(field, given);
    else if (field.repeated) value[field.name] = listFromJson(field, given);
    else value[field.name] = given === null ? defaultOf(field) : oneFromJson(field, given);
  }
  return value;
}

function mapFromJson(field: protobuf.Field, given: unknown): Map<string, unknown> {
  if (given !== null && !isObject(given)) throw malformed(`${field.name} is a JSON object.`);
  return new Map(Object.entries(given ?? {}).map(([key, one]) => [key, oneFromJson(field, one)]));
}

function listFromJson(field: protobuf.Field, given: unknown): unknown[] {
  if (given !== null && !Array.isArray(given)) throw malformed(`${field.name} is a JSON array.`);
  return ((given ?? []) as unknown[]).map((one) => oneFromJson(field, one));
}

function defaultOf(field: protobuf.Field): unknown {
  if (field.resolvedType !== null) return 'fieldsArray' in field.resolvedType ? null : 0;
  if (field.type === 'int64') return 0n;
  return field.type === 'bytes' ? null : field.defaultValue;
}

function oneFromJson(field: protobuf.Field, given: unknown): unknown {
  const { resolvedType, type, name } = field;
  const wrong = () => malformed(`${name} is not a ${resolvedType?.name ?? type}.`);
  if (resolvedType === structType) {
    if (!isObject(given)) throw wrong();
    return given;
  }
  if (resolvedType === timestampType) {
    const timestamp = typeof given === 'string' ? parseTimestamp(given) : null;
    if (timestamp === null) throw wrong();
    return timestamp;
  }
  if (resolvedType !== null) {
    if ('fieldsArray' in resolvedType) return messageFromJson(resolvedType, given);
    const number =
      typeof given === 'number'
        ? given
        : Object.hasOwn(resolvedType.values, given as string)
          ? resolvedType.values[given as string]
          : null;
    if (number == null || !Number.isInteger(number)) throw wrong();
    return number;
  }
  if (type === 'int64') return int64FromJson(given, wrong);
  if (type === 'bytes') {
    if (typeof given !== 'string' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(given)) throw wrong();
    return given === '' ? null : Buffer.from(given, 'base64');
  }
  if (typeof given !== (type === 'bool' ? 'boolean' : 'string')) throw wrong();
  return typeof given === 'string' ? given.toWellFormed() : given;
}

function int64FromJson(given: unknown, wrong: () => Error): bigint {
  const isText = typeof given === 'string' && /^-?\d{1,19}$/.test(given);
  if (!isText && !Number.isSafeInteger(given)) throw wrong();
  const value = BigInt(given as string | number);
  if (BigInt.asIntN(64, value) !== value) throw wrong();
  return value;
}

function messageToJson(type: protobuf.Type, value: Fields): Fields {
  const json: Fields = {};
  for (const field of type.fieldsArray) {
    const given = value[field.name];
    if (given == null || given === 0n || given === 0 || given === '' || given === false) continue;
    if (given instanceof Map) {
      if (given.size > 0)
        json[field.name] = Object.fromEntries([...given].map(([key, one]) => [key, oneToJson(field, one)]));
    } else if (field.repeated) {
      if ((given as unknown[]).length > 0) json[field.name] = (given as unknown[]).map((one) => oneToJson(field, one));
    } else {
      json[field.name] = oneToJson(field, given);
    }
  }
  return json;
}

function oneToJson({ resolvedType, type }: protobuf.Field, given: unknown): unknown {
  if (resolvedType === structType) return given;
  if (resolvedType === timestampType) return formatTimestamp(given as Timestamp);
  if (resolvedType !== null) {
    return 'fieldsArray' in resolvedType
      ? messageToJson(resolvedType, given as Fields)
      : (resolvedType.valuesById[given as number] ?? given);
  }
  if (type === 'int64') return String(given);
  return type === 'bytes' ? (given as Buffer).toString('base64') : given;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
