import { z } from 'zod'
import { message } from '../options/shapes.ts'

/** A channel's changes to the bodies and headers of upstream requests. */

/**
 * The path of a member: `a.b`, `a[0]`, `a[*].b` for each entry, `a["x.y"]` for other names; `$.` may precede it. Rules cannot
 * change `model` and `stream`: the model mapping and the caller determine them, and the gateway reads the answer accordingly.
 */
const segment = String.raw`[\w-]+|\["[^"\\]{1,100}"\]|\[(?:\d{1,4}|\*)\]`
const pathForm = new RegExp(String.raw`^(?:\$\.?)?(?:${segment})(?:\.(?:[\w-]+)|\["[^"\\]{1,100}"\]|\[(?:\d{1,4}|\*)\])*$`)
const path = z
  .string()
  .max(300)
  .refine((text) => pathForm.test(text), message('不是有效的路径', 'is not a path'))
  .refine(
    (text) => !/^(\$\.?)?(\["(model|stream)"\]|(model|stream)(?![\w-]))/.test(text),
    message('不能改写 model 与 stream', 'cannot change model or stream'),
  )

/** A path to a single member, without `[*]`. */
const onePath = path.refine((text) => !text.includes('[*]'), message('不能包含 [*]', 'must not contain [*]'))

/** A pattern of model names; each `*` matches any characters. */
const pattern = z.string().min(1).max(255)

/** A rule's condition: models of these names, bodies with this member. All given parts must match. */
const condition = z.strictObject({
  model: z.union([pattern, z.array(pattern).min(1).max(100)]).optional(),
  path: z
    .string()
    .max(300)
    .refine((text) => pathForm.test(text), message('不是有效的路径', 'is not a path'))
    .optional(),
  /** The required value of the member at `path`. Without it and `exists`, the member must be present. */
  equals: z.json().optional(),
  exists: z.boolean().optional(),
})
const when = condition.optional()

export const bodyRule = z.union([
  z.strictObject({ set: path, to: z.json(), when }),
  z.strictObject({ default: path, to: z.json(), when }),
  z.strictObject({ remove: path, when }),
  z.strictObject({ rename: onePath, to: onePath, when }),
])
export type BodyRule = z.output<typeof bodyRule>
export type RuleCondition = z.output<typeof condition>

/** A list of rules, in their order; or an object whose members are all set. */
export const bodyRules = z.union([
  z.array(bodyRule).max(200),
  z
    .record(z.string().regex(/^[^"\\]{1,100}$/), z.json())
    .refine(
      (members) => !('model' in members || 'stream' in members),
      message('不能改写 model 与 stream', 'cannot change model or stream'),
    )
    .transform((members) => Object.entries(members).map(([name, to]): BodyRule => ({ set: `["${name}"]`, to }))),
])

/** Connection headers are managed by the gateway. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'accept-encoding',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
])

/** Name to value, in which `{api_key}` is replaced by the key of the request; null removes a header. */
export const headerOverrides = z
  .record(
    z
      .string()
      .max(100)
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, message('不是有效的请求头名称', 'is not the name of a header')),
    z
      .string()
      .max(4000)
      .refine((text) => /^[\x20-\x7e]*$/.test(text), message('含有无效字符', 'has invalid characters'))
      .nullable(),
  )
  .refine(
    (headers) => Object.keys(headers).every((name) => !ownHeaders.has(name.toLowerCase())),
    message('含有不可改写的请求头', 'names a header that cannot be changed'),
  )
export type HeaderOverrides = z.output<typeof headerOverrides>
