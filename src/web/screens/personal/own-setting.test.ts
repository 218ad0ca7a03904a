import { expect, it } from 'vitest'
import { inputOf, readOwnSetting } from './own-setting.ts'

it.each(['', '{bad', 'null', '[]', '{"quota_warning_threshold":"many"}'])('begins with the defaults for %j', (text) => {
  expect(readOwnSetting(text)).toMatchObject({ notify_type: 'email', quota_warning_threshold: '', hasSecret: false })
})

it('keeps the threshold of the site for a user without an own one, whatever else is saved', () => {
  expect(inputOf(readOwnSetting('{"webhook_url":"https://a.test/"}'))).not.toHaveProperty('quota_warning_threshold')
  expect(inputOf(readOwnSetting('{"quota_warning_threshold":7}'))).toMatchObject({ quota_warning_threshold: 7 })
})

it('shows the settings, but never a secret', () => {
  const text =
    '{"notify_type":"webhook","webhook_url":"https://a.test/","webhook_secret_set":true,"quota_warning_threshold":7,"other":1}'
  expect(readOwnSetting(text)).toMatchObject({
    notify_type: 'webhook',
    webhook_url: 'https://a.test/',
    webhook_secret: '',
    hasSecret: true,
    quota_warning_threshold: '7',
  })
})

it('sends only the members of the chosen method', () => {
  const values = {
    ...readOwnSetting(''),
    webhook_url: ' https://a.test/ ',
    notification_email: 'a@b.test',
    notification_code: ' 1 ',
  }
  expect(inputOf({ ...values, notify_type: 'webhook' })).toEqual({
    notify_type: 'webhook',
    accept_unset_model_ratio_model: false,
    webhook_url: 'https://a.test/',
    webhook_secret: '',
  })
  expect(inputOf(values)).toMatchObject({ notification_email: 'a@b.test', notification_code: '1' })
  expect(inputOf(values)).not.toHaveProperty('webhook_url')
})
