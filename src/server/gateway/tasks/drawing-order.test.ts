import { describe, expect, it } from 'vitest'
import { findTaskCall } from '../relay/http/task-paths.ts'
import { readDrawingOrder } from './drawing-order.ts'

const options = {
  MjAccountFilterEnabled: false,
  MjNotifyEnabled: false,
  MjModeClearEnabled: false,
  MjActionCheckSuccessEnabled: true,
}
const press = (customId: string) => readDrawingOrder({ act: 'action', mode: '' }, { taskId: '1', customId }, options).action

describe('a drawing order', () => {
  it.each([
    ['MJ::JOB::upsample::1::a', 'UPSCALE'],
    ['MJ::JOB::upsample_v6_2x_subtle::1::a::SOLO', 'UPSCALE'],
    ['MJ::JOB::variation::2::a', 'VARIATION'],
    ['MJ::JOB::low_variation::1::a::SOLO', 'LOW_VARIATION'],
    ['MJ::JOB::high_variation::1::a::SOLO', 'HIGH_VARIATION'],
    ['MJ::JOB::pan_left::1::a::SOLO', 'PAN'],
    ['MJ::JOB::reroll::0::a::SOLO', 'REROLL'],
    ['MJ::Outpaint::50::1::a::SOLO', 'ZOOM'],
    ['MJ::CustomZoom::a', 'CUSTOM_ZOOM'],
    ['MJ::Inpaint::1::a::SOLO', 'INPAINT'],
  ])('maps the button %s to %s', (customId, action) => expect(press(customId)).toBe(action))

  it.each(['', 'MJ', '::', 'MJ::BOOKMARK::a', 'MJ::JOB', 'x'.repeat(10_000)])('refuses the button %s', (customId) => {
    expect(() => press(customId)).toThrow(expect.objectContaining({ code: 'task_action_invalid' }))
  })

  it('requires the drawing that it continues, and is priced by its action', () => {
    expect(() => readDrawingOrder({ act: 'modal', mode: '' }, {}, options)).toThrow(
      expect.objectContaining({ code: 'field_invalid' }),
    )
    expect(() => readDrawingOrder({ act: 'simple-change', mode: '' }, { content: '1 X9' }, options)).toThrow()
    const order = readDrawingOrder({ act: 'simple-change', mode: '' }, { content: '123 u4' }, options)
    expect([order.action, order.models, order.parent]).toEqual(['UPSCALE', ['mj_upscale'], { id: '123', mustBeDone: true }])
    expect(readDrawingOrder({ act: 'swap', mode: '' }, {}, options).models).toEqual(['swap_face'])
    expect(readDrawingOrder({ act: 'imagine', mode: 'fast' }, { prompt: 'x' }, options).prices).toEqual([
      'mj_fast_imagine',
      'mj_imagine',
    ])
  })

  it('removes the speed switches if the site says so, from prompts of any length', () => {
    const cleared = (prompt: string) =>
      readDrawingOrder({ act: 'imagine', mode: '' }, { prompt }, { ...options, MjModeClearEnabled: true }).prompt
    expect(cleared(' a cat  --fast --ar 1:1 --RELAX')).toBe('a cat --ar 1:1')
    expect(cleared('a --fastest --turbo-x cat--turbo')).toBe('a --fastest --turbo-x cat')
    const spaces = ' '.repeat(1_000_000)
    expect(cleared(`a${spaces}cat`)).toBe(`a${spaces}cat`)
  })

  it('is accepted at the paths of the proxies, and nowhere else', () => {
    const found = (path: string) => findTaskCall('POST', path)?.taskCall ?? findTaskCall('GET', path)?.taskCall
    expect(found('/mj/submit/imagine')).toEqual({ action: 'draw', act: 'imagine', mode: '' })
    expect(found('/mj-turbo/mj/submit/imagine')).toEqual({ action: 'draw', act: 'imagine', mode: 'turbo' })
    expect(found('/mj-relax/submit/imagine')).toEqual({ action: 'draw', act: 'imagine', mode: 'relax' })
    expect(found('/mj/insight-face/swap')).toEqual({ action: 'draw', act: 'swap', mode: '' })
    expect(found('/mj/task/a%3Ab/fetch')).toEqual({ action: 'drawing', id: 'a:b' })
    for (const path of [
      '/mj/submit/swap',
      '/mj/insight-face/imagine',
      '/mj/submit/',
      '/mj/task//fetch',
      '/mj/x',
      '/suno/submit/',
      '/suno/',
    ])
      expect(found(path), path).toBeUndefined()
  })
})
