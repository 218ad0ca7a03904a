import type { ErrorCode } from '../../../../contract/errors.ts'
import type { ChannelValues } from './form-values.ts'

/** The form field of each error code of the server. */
export const fieldOfRefusal: Readonly<Record<string, keyof ChannelValues>> = {
  channel_name_required: 'name',
  channel_models_required: 'models',
  channel_type_unknown: 'type',
  channel_url_required: 'base_url',
  channel_url_invalid: 'base_url',
  channel_mapping_loop: 'model_mapping',
  channel_key_reenter: 'key',
  channel_has_keys: 'key',
} satisfies Partial<Record<ErrorCode, keyof ChannelValues>>
