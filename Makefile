.PHONY: demo test check lint bench docs golden
demo test check lint bench docs golden:
	./dev $@
