import type { Fields } from '../fields.ts'
import { channelPriorityMin } from './channel-status.ts'

/** The declared fields of the forms of a channel and of a tag, without the schemas, which are larger than the forms. */

const tagLengthMax = 100

/** The form that changes all channels of a tag; without a tag they are released from it. */
export function channelTagFields(isReleased: boolean) {
  return {
    new_tag: {
      widget: 'text',
      label: { zh: '标签', en: 'Tag' },
      help: isReleased
        ? {
            zh: '标签为空：保存后该标签将解散，渠道仍然保留。',
            en: 'Leaving the tag blank removes it from these channels. The channels are kept.',
          }
        : { zh: '修改后，这些渠道一起改用新的标签。', en: 'Moves all of these channels to the new tag.' },
      max: tagLengthMax,
    },
    models: { widget: 'own' },
    groups: { widget: 'choices', label: { zh: '分组', en: 'Groups' } },
    model_mapping: { widget: 'own' },
    priority: { widget: 'whole', label: { zh: '优先级', en: 'Priority' }, min: channelPriorityMin, short: true },
    weight: { widget: 'whole', label: { zh: '权重', en: 'Weight' }, short: true },
  } satisfies Fields
}

/** The part of the form of a channel that says when it is chosen. */
export const channelRoutingFields = {
  tag: {
    widget: 'text',
    label: { zh: '渠道标签', en: 'Channel tag' },
    help: {
      zh: '相同标签的渠道可以聚合显示，并一起修改。',
      en: 'Channels with the same tag can be displayed and edited together.',
    },
    max: tagLengthMax,
  },
  priority: {
    widget: 'whole',
    label: { zh: '渠道优先级', en: 'Priority' },
    help: { zh: '数字越大越先使用，最小 -999。', en: 'Higher values are used first. Minimum: -999.' },
    min: channelPriorityMin,
    short: true,
  },
  weight: {
    widget: 'whole',
    label: { zh: '渠道权重', en: 'Weight' },
    help: { zh: '同一优先级内的分配比例。', en: 'The share of requests among channels with the same priority.' },
    short: true,
  },
  auto_ban: {
    widget: 'switch',
    label: { zh: '是否自动禁用', en: 'Automatic disabling' },
    help: {
      zh: '密钥失效或余额不足时自动停用该密钥，全部失效时停用渠道；仅当自动禁用总开关打开时有效。',
      en: 'Disables a key when it fails or its balance runs out, and the channel when its last key is disabled. Requires the global setting.',
    },
  },
} satisfies Fields

/** The part of the form of a channel that says where its requests go. Only the OpenAI type (1) has organizations. */
export const channelUpstreamFields = {
  type: { widget: 'own', short: true },
  name: {
    widget: 'text',
    label: { zh: '名称', en: 'Name' },
    placeholder: { zh: '请为渠道命名', en: 'Enter a name for the channel' },
    required: true,
    max: 100,
    short: true,
  },
  base_url: { widget: 'own' },
  key: { widget: 'own' },
  other: { widget: 'own' },
  openai_organization: {
    widget: 'text',
    label: { zh: '组织', en: 'Organization' },
    placeholder: { zh: '组织 ID，例如 org-xxx（可选）', en: 'Organization ID, e.g. org-xxx (optional)' },
    when: { type: [1] },
  },
  groups: {
    widget: 'choices',
    label: { zh: '分组', en: 'Groups' },
    help: {
      zh: '这些分组的用户可以使用此渠道。留空则为 default。',
      en: 'Users in these groups can use this channel. Defaults to the group “default”.',
    },
  },
} satisfies Fields
