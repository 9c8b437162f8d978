require('lathe').setup({adapters={http={scripted=scripted}}, interactions={chat={adapter='scripted'}}, display={icons='ascii',chat={window={layout='current'}}}})
