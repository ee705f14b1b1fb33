import type protobuf from 'protobufjs';
import { invalid } from '../../kernel/index.ts';
import { structType, timestampType } from './message-types.ts';
import { structFromWire, structToWire } from './struct.ts';

type Fields = Record<string, unknown>;

/**
 * Decodes a message from protobuf's binary form. Throws `malformed_message` for truncated messages, wrong wire types
 * and text that is not UTF-8.
 */
export function decodeBinary<T>(type: protobuf.Type, bytes: Uint8Array): T {
  let message: Fields;
  try {
    message = type.decode(bytes) as unknown as Fields;
  } catch (cause) {
    throw invalid('malformed_message', `This is not a ${type.name}.`, { cause });
  }
  return fromWire(type, message) as T;
}

export function encodeBinary(type: protobuf.Type, value: object): Buffer {
  return Buffer.from(type.encode(toWire(type, value as Fields)).finish());
}

/** Converts the output of protobufjs to the types of runner-messages.ts. */
function fromWire(type: protobuf.Type, message: Fields): object {
  const value: Fields = {};
  for (const field of type.fieldsArray) {
    const given = message[field.name];
    if (field.map)
      value[field.name] = new Map(
        Object.entries((given ?? {}) as Fields).map(([key, one]) => [key, oneFromWire(field, one)]),
      );
    else if (field.repeated) value[field.name] = ((given ?? []) as unknown[]).map((one) => oneFromWire(field, one));
    else value[field.name] = oneFromWire(field, given);
  }
  return value;
}

function oneFromWire(field: protobuf.Field, given: unknown): unknown {
  const { resolvedType } = field;
  if (resolvedType === structType) return given == null ? null : structFromWire(given as Fields);
  if (resolvedType === timestampType) return given == null ? null : timestampFromWire(given as Fields);
  if (resolvedType !== null && 'fieldsArray' in resolvedType)
    return given == null ? null : fromWire(resolvedType, given as Fields);
  // Enums keep unknown numbers; readers treat them as unspecified.
  if (resolvedType !== null) return given ?? 0;
  if (field.type === 'int64') return BigInt(String(given ?? 0));
  if (field.type === 'bytes')
    return given == null || (given as Uint8Array).length === 0 ? null : Buffer.from(given as Uint8Array);
  return given ?? field.defaultValue;
}

const timestampFromWire = ({ seconds, nanos }: Fields) => ({
  seconds: BigInt(String(seconds ?? 0)),
  nanos: Number(nanos ?? 0),
});

/** Converts to the input of protobufjs. Omits proto3 defaults. */
function toWire(type: protobuf.Type, value: Fields): Fields {
  const message: Fields = {};
  for (const field of type.fieldsArray) {
    const given = value[field.name];
    if (given == null || given === 0n || given === 0 || given === '' || given === false) continue;
    if (given instanceof Map)
      message[field.name] = Object.fromEntries([...given].map(([key, one]) => [key, oneToWire(field, one)]));
    else if (field.repeated) message[field.name] = (given as unknown[]).map((one) => oneToWire(field, one));
    else message[field.name] = oneToWire(field, given);
  }
  return message;
}

function oneToWire(field: protobuf.Field, given: unknown): unknown {
  const { resolvedType } = field;
  if (resolvedType === structType) return structToWire(given as never);
  if (resolvedType !== null && 'fieldsArray' in resolvedType) return toWire(resolvedType, given as Fields);
  return typeof given === 'bigint' ? given.toString() : given;
}
