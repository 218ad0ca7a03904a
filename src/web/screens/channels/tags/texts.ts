import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded with the dialogs that change tags, not with the list. */
export const texts = defineTexts({
  notice: [
    '以下修改会覆盖该标签下 {count} 个渠道的相应设置；留空的项目保持不变。',
    'Values entered here replace the settings of all {count} {count|channel|channels} with this tag. Blank fields stay unchanged.',
  ],
  tag: ['标签', 'Tag'],
  models: ['模型', 'Models'],
  modelsHelp: ['填写后替换每个渠道的模型列表。', 'Replaces the models of every channel.'],
  fillPresent: ['填入现有的全部模型', 'Add all current models'],
  mappingHelp: ['填写后替换每个渠道的模型重定向。', 'Replaces the model mapping of every channel.'],
  kept: ['不变（{value}）', 'Unchanged ({value})'],
  keptMixed: ['不变（各不相同）', 'Unchanged (mixed)'],
  notChanged: ['你似乎并没有修改什么', 'You seem to have changed nothing'],
  saved: ['标签更新成功，已修改 {count} 个渠道', 'Tag updated on {count} {count|channel|channels}'],
  dissolve: ['解散标签', 'Remove tag'],
  dissolveTitle: ['解散此标签？', 'Remove this tag?'],
  dissolveBody: [
    '{count} 个渠道将不再有标签，其他设置不变。',
    'The tag is removed from {count} {count|channel|channels}. Nothing else changes.',
  ],
  batchTitle: ['为所选的 {count} 个渠道设置标签', 'Set the tag of {count} selected {count|channel|channels}'],
  batchHelp: ['原有的标签会被替换。', 'Replaces the current tag.'],
  batchApply: ['设置标签', 'Set tag'],
  tagRequired: ['标签不能为空！', 'Enter a tag'],
  tagged: ['{count} 个渠道的标签已设为“{tag}”', '{count} {count|channel now has|channels now have} the tag “{tag}”'],
})
