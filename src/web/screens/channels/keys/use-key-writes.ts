import { useText } from '../../../lib/i18n.ts'
import { useWrite } from '../../../lib/query.ts'
import { texts } from './texts.ts'

/** Changes of keys affect their list, the channel's number of keys and its status. */
const invalidates = ['GET /api/channel/:id/keys', 'GET /api/channel/search', 'GET /api/channel/:id'] as const

export function useKeyWrites(onDone?: () => void) {
  const say = useText(texts)
  const common = { invalidates, onSuccess: () => onDone?.() }
  return {
    add: useWrite('POST /api/channel/:id/keys', {
      ...common,
      success: (ids) => (ids.length === 0 ? say('addedNone') : say('added', { count: ids.length })),
    }),
    setStatus: useWrite('POST /api/channel/:id/keys/status', { ...common, success: (count) => say('changed', { count }) }),
    remove: useWrite('DELETE /api/channel/:id/keys/:key', { ...common, success: say('removed') }),
  }
}
